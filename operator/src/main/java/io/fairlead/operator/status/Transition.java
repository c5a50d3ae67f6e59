package io.fairlead.operator.status;

import io.fabric8.kubernetes.api.model.Condition;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Conditions that came to another status or reason in one write, all to the same one.
 *
 * @param reason of the conditions now
 * @param message which conditions, their status, and what they say
 */
public record Transition(Reason reason, String message) {

  /**
   * What a write changes. Messages that change alone are no transition, nor is a condition that
   * appears and is not known yet, nor what passes by itself of an object that is new, nor a
   * condition that is a step on the way: that all is well is told once, of Ready, by kinds that
   * have it. Where several conditions come to one reason, the last one's message stands for all: it
   * is the one that joins what the others say.
   *
   * @param before conditions as they were in the API server
   * @param after as they were written
   * @return in the order of {@code after}
   */
  public static List<Transition> between(List<Condition> before, List<Condition> after) {
    Map<String, List<Condition>> changed = new LinkedHashMap<>();
    Optional<Condition> ready = find(after, ConditionType.READY.wireName());
    boolean tells = ready.filter(now -> isTrue(now) && moved(before, now)).isPresent();
    for (Condition now : after) {
      if (moved(before, now) && !(ready.isPresent() && isStep(before, now, tells))) {
        changed
            .computeIfAbsent(now.getStatus() + "/" + now.getReason(), key -> new ArrayList<>())
            .add(now);
      }
    }
    return changed.values().stream()
        .filter(conditions -> Reason.find(conditions.getLast().getReason()).isPresent())
        .map(Transition::of)
        .toList();
  }

  private static boolean moved(List<Condition> before, Condition now) {
    Optional<Condition> old = find(before, now.getType());
    String was = status(old);
    boolean same =
        Objects.equals(was, now.getStatus())
            && old.map(one -> Objects.equals(one.getReason(), now.getReason())).orElse(true);
    return !same
        && !(before.isEmpty() && passes(now))
        && ConditionType.find(now.getType())
            .filter(type -> type.tells(was, now.getStatus()))
            .isPresent();
  }

  private static boolean passes(Condition now) {
    return Reason.find(now.getReason())
        .filter(reason -> reason.kind() == Reason.Kind.PASSING)
        .isPresent();
  }

  private static boolean isTrue(Condition now) {
    return Verdict.State.TRUE.is(now.getStatus());
  }

  /**
   * Whether it is as it should be now, and Ready tells so or will.
   *
   * @param ready whether the same write tells that all is well
   */
  private static boolean isStep(List<Condition> before, Condition now, boolean ready) {
    boolean good =
        Reason.find(now.getReason()).filter(one -> one.kind() == Reason.Kind.GOOD).isPresent();
    boolean leads =
        ConditionType.find(now.getType()).filter(ConditionType::leadsToReady).isPresent();
    boolean wasWrong = Verdict.State.FALSE.is(status(find(before, now.getType())));
    return good && leads && (ready || !wasWrong);
  }

  private static Optional<Condition> find(List<Condition> conditions, String type) {
    return conditions.stream().filter(one -> type.equals(one.getType())).findFirst();
  }

  private static String status(Optional<Condition> condition) {
    return condition.map(Condition::getStatus).orElse(Verdict.State.UNKNOWN.wireName());
  }

  private static Transition of(List<Condition> conditions) {
    Condition last = conditions.getLast();
    return new Transition(
        Reason.of(last.getReason()),
        "%s %s %s: %s"
            .formatted(
                conditions.stream().map(Condition::getType).collect(Collectors.joining(", ")),
                conditions.size() == 1 ? "is" : "are",
                last.getStatus(),
                last.getMessage()));
  }
}
