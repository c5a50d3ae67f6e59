package io.fairlead.operator.reconcile;

import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.operator.status.PickerFacts;
import io.fairlead.operator.status.Replica;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Pools whose pickers are about to read another config. That takes them a tenth of a second. A
 * status that told of the moment in between would be written twice for one edit, and be out of date
 * as soon as it is read; so nothing is told until the pickers have, or have had time to.
 */
final class HotReloads {
  private final Duration longest;
  private final Waits waits;

  /**
   * @param longest what pickers may take before their pool is told to wait for them
   * @param nanos a clock that never jumps
   */
  HotReloads(Duration longest, LongSupplier nanos) {
    this.longest = longest;
    waits = new Waits(nanos);
  }

  /**
   * How long to wait for the pool's pickers.
   *
   * @param pool its UID
   * @return empty when there is nothing to wait for
   */
  Optional<Duration> left(String pool, PickerFacts facts) {
    ConfigHash wanted = facts.hash();
    if (wanted == null || !underWay(wanted, facts)) {
      waits.end(pool);
      return Optional.empty();
    }
    // Not for each config anew: edits that follow one another would put it off for ever. Nor again
    // while pickers still have not read it: one that hangs is told of as it is.
    Duration left = longest.minus(waits.since(pool, HotReloads.class));
    return left.isPositive() ? Optional.of(left) : Optional.empty();
  }

  /** Whether all that serve run some config, not all of them this one, and none refuses it. */
  private static boolean underWay(ConfigHash wanted, PickerFacts facts) {
    List<PickerReport> reports =
        facts.replicas().stream()
            .filter(Replica::ready)
            .map(Replica::report)
            .filter(Objects::nonNull)
            .toList();
    return !reports.isEmpty()
        && reports.stream().allMatch(report -> report.configHash() != null)
        && reports.stream().noneMatch(report -> refuses(report, wanted))
        && reports.stream().anyMatch(report -> !wanted.equals(report.configHash()));
  }

  private static boolean refuses(PickerReport report, ConfigHash wanted) {
    PickerReport.Refused refused = report.refused();
    return refused != null && wanted.equals(refused.hash());
  }
}
