package io.fairlead.operator.reconcile;

import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.operator.status.PickerFacts;
import io.fairlead.operator.status.PoolStatus;
import io.fairlead.operator.status.Replica;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Ready pods that have not reported the config which they should run. That may be a moment's delay,
 * and is told once it has lasted.
 *
 * <p>Safe to use from any thread.
 */
final class OverdueReports {
  /** No wait is forgotten: what is told at its end would be told anew though nothing changed. */
  private static final Duration NEVER = Duration.ofDays(10_000);

  private final Duration longest;
  private final Waits waits;

  /**
   * @param longest how long a pod may take
   * @param nanos a clock that never jumps
   */
  OverdueReports(Duration longest, LongSupplier nanos) {
    this.longest = longest;
    waits = new Waits(nanos, NEVER);
  }

  /**
   * How long ready pods may go on without a report of the config.
   *
   * @param pool its UID
   * @return zero when they have had their time, empty where no report is missing
   */
  Optional<Duration> left(String pool, PickerFacts facts) {
    ConfigHash hash = facts.hash();
    if (hash == null || !PoolStatus.awaitsReports(facts)) {
      forget(pool);
      return Optional.empty();
    }
    // By what each says it runs, not by what it should: that may change more often than it is late.
    Map<String, Object> behind = new LinkedHashMap<>();
    for (Replica replica : facts.readyReplicas()) {
      Optional<ConfigHash> runs =
          Optional.ofNullable(replica.report()).map(PickerReport::configHash);
      if (!runs.equals(Optional.of(hash))) {
        behind.put(pool + "/" + replica.name(), runs);
      }
    }
    waits.endOthers(pool, behind.keySet());
    Duration waited =
        behind.entrySet().stream()
            .map(one -> waits.since(one.getKey(), one.getValue()))
            .max(Comparator.naturalOrder())
            .orElse(Duration.ZERO);
    Duration left = longest.minus(waited);
    return Optional.of(left.isPositive() ? left : Duration.ZERO);
  }

  /** The pool is gone. */
  void forget(String pool) {
    waits.endOthers(pool, Set.of());
  }
}
