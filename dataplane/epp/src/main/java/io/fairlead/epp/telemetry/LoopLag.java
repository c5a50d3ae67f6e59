package io.fairlead.epp.telemetry;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How late event loops get round to what is due: a task a second on each, which measures itself.
 * What a loop is late by is added to every request on it.
 */
public final class LoopLag {

  private static final long INTERVAL = TimeUnit.SECONDS.toNanos(1);

  private LoopLag() {}

  /**
   * Begins to measure; ends with each loop.
   *
   * @param clock monotonic, in nanoseconds
   */
  public static void measure(
      Iterable<? extends EventExecutor> loops, MeterRegistry registry, LongSupplier clock) {
    Timer lag =
        Timer.builder("fairlead.loop.lag")
            .description(
                "How late event loops were with a task that is due each second: every request on"
                    + " a late loop waits as long.")
            .serviceLevelObjectives(
                Duration.ofMillis(1),
                Duration.ofMillis(2),
                Duration.ofMillis(5),
                Duration.ofMillis(10),
                Duration.ofMillis(50),
                Duration.ofMillis(100),
                Duration.ofMillis(500),
                Duration.ofSeconds(1))
            .register(registry);
    for (EventExecutor loop : loops) {
      var _ =
          loop.scheduleAtFixedRate(
              new Runnable() {
                private long due = clock.getAsLong() + INTERVAL;

                @Override
                public void run() {
                  lag.record(Math.max(0, clock.getAsLong() - due), TimeUnit.NANOSECONDS);
                  due += INTERVAL;
                }
              },
              INTERVAL,
              INTERVAL,
              TimeUnit.NANOSECONDS);
    }
  }
}
