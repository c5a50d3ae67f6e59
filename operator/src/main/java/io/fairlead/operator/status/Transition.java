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
   * appears and is not known yet. Where several conditions come to one reason, the last one's
   * message stands for all: it is the one that joins what the others say.
   *
   * @param before conditions as they were in the API server
   * @param after as they were written
   * @return in the order of {@code after}
   */
  public static List<Transition> between(List<Condition> before, List<Condition> after) {
    Map<String, List<Condition>> changed = new LinkedHashMap<>();
    for (Condition now : after) {
      if (moved(before, now)) {
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
    Optional<Condition> old =
        before.stream().filter(one -> now.getType().equals(one.getType())).findFirst();
    String was = old.map(Condition::getStatus).orElse(Verdict.State.UNKNOWN.wireName());
    boolean same =
        Objects.equals(was, now.getStatus())
            && old.map(one -> Objects.equals(one.getReason(), now.getReason())).orElse(true);
    return !same
        && ConditionType.find(now.getType())
            .filter(type -> type.tells(was, now.getStatus()))
            .isPresent();
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
