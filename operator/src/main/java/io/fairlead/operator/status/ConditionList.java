package io.fairlead.operator.status;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Turns verdicts into conditions that move their time only when their status moves. */
public final class ConditionList {
  private static final int MAX_MESSAGE = 1024;

  /** As upstream's schemas have it, for an InferencePool's entry and an InferenceModel. */
  static final int MOST_IN_ENTRY = 8;

  /** What a model goes without first, where others leave no room. */
  private static final List<ConditionType> GIVE_WAY_TO_FOREIGN =
      List.of(
          ConditionType.SATURATED,
          ConditionType.PROGRAMMED,
          ConditionType.RESOLVED_REFS,
          ConditionType.TARGETS_AVAILABLE,
          ConditionType.RECONCILING,
          ConditionType.STALLED,
          ConditionType.ACCEPTED,
          ConditionType.READY);

  /** Every type that we write. */
  private static final Set<String> OURS =
      Arrays.stream(ConditionType.values())
          .map(ConditionType::wireName)
          .collect(Collectors.toUnmodifiableSet());

  private ConditionList() {}

  /**
   * Our conditions as they are to be written.
   *
   * @param previous conditions that are there now
   * @param verdicts by condition type, in the order in which they are to be listed
   * @param generation of the object that the verdicts speak of, less those that are kept
   * @param now cut to seconds, the grain of the wire
   */
  public static List<Condition> merge(
      List<Condition> previous,
      Map<ConditionType, Verdict> verdicts,
      long generation,
      Instant now) {
    List<Condition> merged = new ArrayList<>();
    verdicts.forEach((type, verdict) -> merged.add(one(previous, type, verdict, generation, now)));
    return List.copyOf(merged);
  }

  /**
   * Ours, and after them those of others, for a list that is written back whole. The wire takes
   * eight: where others added more than fit, their last ones go.
   */
  public static List<Condition> withForeign(List<Condition> previous, List<Condition> ours) {
    List<Condition> all = new ArrayList<>(ours);
    previous.stream()
        .filter(condition -> !isOurs(condition))
        .limit(Math.max(0, MOST_IN_ENTRY - ours.size()))
        .forEach(all::add);
    return List.copyOf(all);
  }

  /**
   * What of ours there is room for beside conditions of others, where these are merged with what is
   * there and stay. What goes first is said by those that are left, too.
   */
  public static Map<ConditionType, Verdict> besideForeign(
      List<Condition> previous, Map<ConditionType, Verdict> verdicts) {
    long room = MOST_IN_ENTRY - previous.stream().filter(one -> !isOurs(one)).count();
    Map<ConditionType, Verdict> fewer = new LinkedHashMap<>(verdicts);
    for (ConditionType type : GIVE_WAY_TO_FOREIGN) {
      if (fewer.size() > room) {
        fewer.remove(type);
      }
    }
    return fewer;
  }

  /**
   * What these conditions say of the object itself, for when that is not judged anew.
   *
   * @return {@code Accepted} and {@code ResolvedRefs}, those of them that are there
   */
  public static Map<ConditionType, Verdict> judged(List<Condition> conditions) {
    Map<ConditionType, Verdict> judged = new LinkedHashMap<>();
    for (ConditionType type : List.of(ConditionType.ACCEPTED, ConditionType.RESOLVED_REFS)) {
      for (Condition condition : conditions) {
        Optional<Reason> reason = Reason.find(condition.getReason());
        if (type.wireName().equals(condition.getType()) && reason.isPresent()) {
          judged.put(type, Verdict.kept(condition, reason.get()));
        }
      }
    }
    return judged;
  }

  /** Whether both say the same of ours; order and times of equal statuses aside. */
  public static boolean same(List<Condition> one, List<Condition> other) {
    List<Condition> mine = one.stream().filter(ConditionList::isOurs).toList();
    List<Condition> yours = other.stream().filter(ConditionList::isOurs).toList();
    return mine.size() == yours.size()
        && mine.stream().allMatch(left -> yours.stream().anyMatch(right -> same(left, right)));
  }

  /** What conditions say; since when is no part of it. */
  public static List<Condition> withoutTimes(List<Condition> conditions) {
    return conditions.stream()
        .map(one -> new ConditionBuilder(one).withLastTransitionTime(null).build())
        .toList();
  }

  private static boolean isOurs(Condition condition) {
    return OURS.contains(condition.getType());
  }

  private static boolean same(Condition left, Condition right) {
    return Objects.equals(left.getType(), right.getType())
        && Objects.equals(left.getStatus(), right.getStatus())
        && Objects.equals(left.getReason(), right.getReason())
        && Objects.equals(left.getMessage(), right.getMessage())
        && Objects.equals(left.getObservedGeneration(), right.getObservedGeneration());
  }

  private static Condition one(
      List<Condition> previous, ConditionType type, Verdict verdict, long generation, Instant now) {
    String status = verdict.state().wireName();
    String since =
        previous.stream()
            .filter(old -> type.wireName().equals(old.getType()) && status.equals(old.getStatus()))
            .map(Condition::getLastTransitionTime)
            .filter(Objects::nonNull)
            .findFirst()
            .orElseGet(() -> now.truncatedTo(ChronoUnit.SECONDS).toString());
    return new ConditionBuilder()
        .withType(type.wireName())
        .withStatus(status)
        .withReason(verdict.reason().wireName())
        .withMessage(shortened(verdict.message()))
        .withObservedGeneration(verdict.generation() == null ? generation : verdict.generation())
        .withLastTransitionTime(since)
        .build();
  }

  /** Half of a pair would come back as another character, and be a difference for ever. */
  private static String shortened(String message) {
    if (message.length() <= MAX_MESSAGE) {
      return message;
    }
    int end = MAX_MESSAGE - 1;
    return message.substring(0, Character.isHighSurrogate(message.charAt(end - 1)) ? end - 1 : end)
        + "…";
  }
}
