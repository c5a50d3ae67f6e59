package io.fairlead.operator.status;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Turns verdicts into conditions that move their time only when their status moves. */
public final class ConditionList {
  private static final int MAX_MESSAGE = 1024;

  private ConditionList() {}

  /**
   * The conditions to write.
   *
   * @param previous conditions that are there now
   * @param verdicts by condition type, in the order in which they are to be listed
   * @param generation of the object that the verdicts speak of
   * @param now cut to seconds, the grain of the wire
   */
  public static List<Condition> merge(
      List<Condition> previous, Map<String, Verdict> verdicts, long generation, Instant now) {
    List<Condition> merged = new ArrayList<>();
    verdicts.forEach((type, verdict) -> merged.add(one(previous, type, verdict, generation, now)));
    return List.copyOf(merged);
  }

  /** Whether both say the same, order and times of equal statuses aside. */
  public static boolean same(List<Condition> one, List<Condition> other) {
    return one.size() == other.size()
        && one.stream().allMatch(left -> other.stream().anyMatch(right -> same(left, right)));
  }

  private static boolean same(Condition left, Condition right) {
    return Objects.equals(left.getType(), right.getType())
        && Objects.equals(left.getStatus(), right.getStatus())
        && Objects.equals(left.getReason(), right.getReason())
        && Objects.equals(left.getMessage(), right.getMessage())
        && Objects.equals(left.getObservedGeneration(), right.getObservedGeneration());
  }

  private static Condition one(
      List<Condition> previous, String type, Verdict verdict, long generation, Instant now) {
    String status = verdict.state().wireName();
    String since =
        previous.stream()
            .filter(old -> type.equals(old.getType()) && status.equals(old.getStatus()))
            .map(Condition::getLastTransitionTime)
            .filter(Objects::nonNull)
            .findFirst()
            .orElseGet(() -> now.truncatedTo(ChronoUnit.SECONDS).toString());
    return new ConditionBuilder()
        .withType(type)
        .withStatus(status)
        .withReason(verdict.reason())
        .withMessage(shortened(verdict.message()))
        .withObservedGeneration(generation)
        .withLastTransitionTime(since)
        .build();
  }

  private static String shortened(String message) {
    return message.length() <= MAX_MESSAGE ? message : message.substring(0, MAX_MESSAGE - 1) + "…";
  }
}
