package io.fairlead.epp.transport;

import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.TimeUnit;

/** What a loop does again and again, for as long as it lives. */
public final class Periodic {

  private Periodic() {}

  /**
   * Runs a task after a delay, and again each time so long after it has ended. What it throws is
   * the loop's to tell of, and keeps it from nothing: a task that is periodic of itself would end
   * with that.
   */
  public static void run(EventExecutor loop, Runnable task, long delay, long pause, TimeUnit unit) {
    var _ =
        loop.schedule(
            () -> {
              try {
                task.run();
              } finally {
                run(loop, task, pause, pause, unit);
              }
            },
            delay,
            unit);
  }
}
