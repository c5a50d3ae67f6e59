package io.fairlead.operator.status;

import io.fabric8.kubernetes.api.model.Condition;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One condition's say, before type, generation and time are added.
 *
 * @param state whether the condition holds
 * @param reason from the published list
 * @param message names the object and the next step; holds no counter and no time that moves while
 *     nothing happens, since every change of it is a write
 * @param generation of the object when that was found, where it is not found anew; null otherwise
 */
public record Verdict(State state, Reason reason, String message, @Nullable Long generation) {

  /** The wire's three values of a condition. */
  public enum State {
    TRUE("True"),
    FALSE("False"),
    UNKNOWN("Unknown");

    private final String wireName;

    State(String wireName) {
      this.wireName = wireName;
    }

    /** The spelling in a condition's {@code status}. */
    public String wireName() {
      return wireName;
    }

    /** Whether a condition's {@code status} says so. */
    boolean is(String status) {
      return wireName.equals(status);
    }
  }

  private static Verdict anew(State state, Reason reason, String message) {
    return new Verdict(state, reason, message, null);
  }

  /** It holds. */
  public static Verdict yes(Reason reason, String message) {
    return anew(State.TRUE, reason, message);
  }

  /** It does not hold. */
  public static Verdict no(Reason reason, String message) {
    return anew(State.FALSE, reason, message);
  }

  /** Not known yet. */
  public static Verdict pending(String message) {
    return anew(State.UNKNOWN, Reason.PENDING, message);
  }

  /** As a condition said it when its object was last looked at. */
  public static Verdict kept(Condition condition, Reason reason) {
    State state =
        Arrays.stream(State.values())
            .filter(one -> one.wireName().equals(condition.getStatus()))
            .findFirst()
            .orElse(State.UNKNOWN);
    return new Verdict(state, reason, condition.getMessage(), condition.getObservedGeneration());
  }

  /**
   * One verdict of several that are not well: all messages, so that nobody mends one to find the
   * next, and each once; state and reason of the first that is known to be wrong, else of the
   * first.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static Verdict all(List<Verdict> verdicts) {
    if (verdicts.isEmpty()) {
      throw new IllegalArgumentException("there is no verdict");
    }
    Verdict first =
        verdicts.stream().filter(Verdict::isFalse).findFirst().orElse(verdicts.getFirst());
    List<String> said =
        Stream.concat(Stream.of(first), verdicts.stream())
            .map(Verdict::message)
            .distinct()
            .toList();
    String messages =
        said.stream()
            .filter(one -> said.stream().noneMatch(other -> isPart(one, other)))
            .collect(Collectors.joining(". "));
    return anew(first.state(), first.reason(), messages);
  }

  /** Whether the other one, which may be made of several itself, says it, too. */
  private static boolean isPart(String one, String other) {
    return !other.equals(one) && other.contains(one);
  }

  /** The same in other words. */
  public Verdict worded(UnaryOperator<String> words) {
    return new Verdict(state, reason, words.apply(message), generation);
  }

  /** Whether it holds. */
  public boolean isTrue() {
    return state == State.TRUE;
  }

  /** Whether it is known not to hold. */
  public boolean isFalse() {
    return state == State.FALSE;
  }
}
