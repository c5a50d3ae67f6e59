package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.Pod;
import io.fairlead.operator.observe.Observation;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Pods whose reports count no more, since they have not been renewed for long: such a pod doesn't
 * get through to the API server, so it sees no change either. Whether a report is renewed is seen
 * by its change, and its age is counted from when that was seen: clocks of nodes may say anything.
 * A pod of a release that renews none is believed for good.
 *
 * <p>Safe to use from any thread.
 */
final class SilentReports {
  /** No wait is forgotten: a report that was silent for long would count again. */
  private static final Duration NEVER = Duration.ofDays(10_000);

  private final Duration longest;
  private final Waits waits;

  /**
   * @param longest how long a report counts that is not renewed
   * @param nanos a clock that never jumps
   */
  SilentReports(Duration longest, LongSupplier nanos) {
    this.longest = longest;
    waits = new Waits(nanos, NEVER);
  }

  /**
   * What is heard of a pool's pods.
   *
   * @param silent names of those whose reports count no more
   * @param left until the next one is silent, unless it is heard of; empty where none can be
   */
  record Heard(Set<String> silent, Optional<Duration> left) {}

  /**
   * What is heard of the pool's pods by now.
   *
   * @param deaf whether nothing would be seen of them if they did
   */
  Heard of(Observation seen, boolean deaf) {
    String pool = seen.pool().getMetadata().getUid();
    Map<String, ZonedDateTime> renewed = new HashMap<>();
    if (!deaf) {
      for (Pod pod : seen.pods()) {
        seen.renewed(pod).ifPresent(at -> renewed.put(pod.getMetadata().getName(), at));
      }
    }
    waits.endOthers(
        pool,
        renewed.keySet().stream()
            .map(pod -> key(pool, pod))
            .collect(Collectors.toUnmodifiableSet()));
    Map<String, Duration> left = new HashMap<>();
    renewed.forEach((pod, at) -> left.put(pod, longest.minus(waits.since(key(pool, pod), at))));
    Set<String> silent = new HashSet<>(left.keySet());
    silent.removeIf(pod -> left.getOrDefault(pod, Duration.ZERO).isPositive());
    return new Heard(
        Set.copyOf(silent),
        left.values().stream().filter(Duration::isPositive).min(Comparator.naturalOrder()));
  }

  /** The pool is gone. */
  void forget(String pool) {
    waits.endOthers(pool, Set.of());
  }

  private static String key(String pool, String pod) {
    return pool + "/" + pod;
  }
}
