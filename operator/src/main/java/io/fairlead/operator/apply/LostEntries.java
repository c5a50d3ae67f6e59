package io.fairlead.operator.apply;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Which pools have lost our entry to others who keep removing it, as a metric. Removals are counted
 * too, but where the entry is put back rarely they are rare, however fast the others are.
 *
 * <p>Safe to use from any thread.
 */
public final class LostEntries {
  /** Longer than it takes until an entry is put back once more, and is seen to be removed again. */
  private static final Duration LASTS = Duration.ofMinutes(10);

  private final LongSupplier nanos;
  private final Counter removals;

  /** When each pool, by its UID, was seen without its entry last. */
  private final Map<String, Long> lost = new ConcurrentHashMap<>();

  /**
   * Registers both metrics.
   *
   * @param nanos a clock that never jumps
   */
  public LostEntries(LongSupplier nanos, MeterRegistry meters) {
    this.nanos = nanos;
    removals =
        Counter.builder("fairlead.operator.status.entry.removals")
            .description("Entries of ours that others removed from pools' status.parents.")
            .register(meters);
    Gauge.builder("fairlead.operator.status.entries.lost", this, LostEntries::count)
        .description("Pools whose entry of ours others keep removing from status.parents.")
        .register(meters);
  }

  /** An entry was removed, and has been put back. */
  void removed() {
    removals.increment();
  }

  /** The pool's entry is not put back for now. */
  void lost(String pool) {
    lost.put(pool, nanos.getAsLong());
  }

  /** The pool is gone, or is none of ours any more. */
  void forget(String pool) {
    lost.remove(pool);
  }

  private int count() {
    long now = nanos.getAsLong();
    lost.values().removeIf(at -> now - at > LASTS.toNanos());
    return lost.size();
  }
}
