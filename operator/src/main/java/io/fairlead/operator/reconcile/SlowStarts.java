package io.fairlead.operator.reconcile;

import io.fairlead.operator.status.Replica;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Pickers that run, and are not ready after as long as a start takes. Nothing else tells: such a
 * container does not end, and its Deployment waits minutes for it.
 */
final class SlowStarts {
  /**
   * Twice what a start takes on a slow node, and little enough for it to be told within 15 s. By
   * the node's clock, which may be off: then it is told sooner or later.
   */
  static final Duration USUAL = Duration.ofSeconds(13);

  private SlowStarts() {}

  /**
   * What a look came to.
   *
   * @param slow names of pods that have had their time
   * @param again until the next one has; empty where none is awaited
   */
  record Judged(Set<String> slow, Optional<Duration> again) {}

  /** Judges a picker's pods, at a time. */
  static Judged judge(List<Replica> replicas, Instant now) {
    return new Judged(
        replicas.stream()
            .filter(replica -> left(replica, now).anyMatch(left -> !left.isPositive()))
            .map(Replica::name)
            .collect(Collectors.toUnmodifiableSet()),
        replicas.stream()
            .flatMap(replica -> left(replica, now))
            .filter(Duration::isPositive)
            .min(Duration::compareTo));
  }

  private static Stream<Duration> left(Replica replica, Instant now) {
    return replica.startingSince().stream()
        .map(since -> USUAL.minus(Duration.between(Instant.parse(since), now)))
        .map(left -> left.compareTo(USUAL) < 0 ? left : USUAL);
  }
}
