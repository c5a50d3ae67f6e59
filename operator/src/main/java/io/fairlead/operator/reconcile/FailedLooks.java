package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fairlead.operator.observe.Observation;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Pools that the operator failed at. To tell so wakes the pool again at once, and the next try may
 * tell that all is well before it fails as the last one did: without a pause the two would write
 * statuses and Events as fast as the API server takes them.
 *
 * <p>Safe to use from any thread.
 */
final class FailedLooks {
  static final Duration FIRST = Duration.ofSeconds(1);
  static final Duration LONGEST = Duration.ofSeconds(15);

  private final LongSupplier nanos;

  /** By UID of the pool. */
  private final Map<String, Failure> failures = new ConcurrentHashMap<>();

  /**
   * @param asked what people want of the pool: an edit of it is tried at once
   * @param at when it failed
   * @param pause how long nothing is tried from then on
   */
  private record Failure(List<Object> asked, long at, Duration pause) {}

  /**
   * @param nanos a clock that never jumps
   */
  FailedLooks(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /** What people want, as far as it matters whether they want another thing than before. */
  private static List<Object> asked(Observation seen, Object beside) {
    Map<String, Long> generations = new HashMap<>();
    Stream.of(
            List.of(seen.pool()),
            seen.pickers(),
            seen.models(),
            seen.upstream().all().toList(),
            seen.superseded())
        .<HasMetadata>flatMap(List::stream)
        .map(HasMetadata::getMetadata)
        .forEach(
            object ->
                generations.put(
                    object.getUid(), Objects.requireNonNullElse(object.getGeneration(), 0L)));
    return List.of(generations, beside);
  }

  /**
   * The operator failed at the pool.
   *
   * @param beside what else people want of it than the objects seen
   */
  void failed(Observation seen, Object beside) {
    List<Object> asked = asked(seen, beside);
    failures.compute(
        seen.pool().getMetadata().getUid(),
        (uid, last) ->
            new Failure(
                asked,
                nanos.getAsLong(),
                last == null || !last.asked().equals(asked) ? FIRST : doubled(last.pause())));
  }

  private static Duration doubled(Duration pause) {
    Duration twice = pause.multipliedBy(2);
    return twice.compareTo(LONGEST) < 0 ? twice : LONGEST;
  }

  /**
   * How long to leave the pool alone; empty where it may be tried.
   *
   * @param beside as it was told of the failure
   */
  Optional<Duration> left(Observation seen, Object beside) {
    Failure last = failures.get(seen.pool().getMetadata().getUid());
    if (last == null || !last.asked().equals(asked(seen, beside))) {
      return Optional.empty();
    }
    Duration left = last.pause().minus(Duration.ofNanos(nanos.getAsLong() - last.at()));
    return left.isPositive() ? Optional.of(left) : Optional.empty();
  }

  /** All went well, or the pool is gone. */
  void end(String pool) {
    failures.remove(pool);
  }
}
