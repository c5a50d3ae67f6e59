package io.fairlead.epp.external;

import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.TimeUnit;

/** Where a scheduler is asked: one thing after another, and nothing waits there. */
public interface SchedulerLoop {

  /**
   * Runs something after what is under way. Any thread.
   *
   * @throws java.util.concurrent.RejectedExecutionException if the loop has ended
   */
  void execute(Runnable task);

  /** Runs something in so many nanoseconds. On the loop only. */
  void schedule(Runnable task, long nanos);

  /** The loop of a pool. */
  static SchedulerLoop of(EventExecutor loop) {
    return new SchedulerLoop() {
      @Override
      public void execute(Runnable task) {
        loop.execute(task);
      }

      @Override
      public void schedule(Runnable task, long nanos) {
        var _ = loop.schedule(task, nanos, TimeUnit.NANOSECONDS);
      }
    };
  }
}
