package io.fairlead.epp;

import io.netty.util.concurrent.Promise;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread on which what sources say is handled, in order. A task that fails is logged and
 * touches no other: left to itself, an executor keeps the failure in a future that nobody looks at,
 * and ends what is periodic.
 */
final class ControlThread extends ScheduledThreadPoolExecutor {

  private static final Logger LOG = LoggerFactory.getLogger(ControlThread.class);

  private static final long FINISH_SECONDS = 5;

  ControlThread() {
    super(
        1,
        Thread.ofPlatform().daemon().name("fairlead-control").factory(),
        // What comes in after the end changes nothing any more.
        new ThreadPoolExecutor.DiscardPolicy());
  }

  /** What is executed comes through here, too; a callable's failure is its caller's to look at. */
  @Override
  public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
    return super.schedule(logged(task), delay, unit);
  }

  @Override
  public ScheduledFuture<?> scheduleAtFixedRate(
      Runnable task, long initialDelay, long period, TimeUnit unit) {
    return super.scheduleAtFixedRate(logged(task), initialDelay, period, unit);
  }

  @Override
  public ScheduledFuture<?> scheduleWithFixedDelay(
      Runnable task, long initialDelay, long delay, TimeUnit unit) {
    return super.scheduleWithFixedDelay(logged(task), initialDelay, delay, unit);
  }

  /** Works something out here: whoever waits for it is told of what that throws, too. */
  <T extends @Nullable Object> void answer(Promise<T> waiting, Supplier<T> question) {
    execute(
        () -> {
          try {
            waiting.trySuccess(question.get());
          } catch (RuntimeException | Error e) {
            waiting.tryFailure(e);
          }
        });
  }

  /** Takes no new task, and waits for those it has: the loops that they use end next. */
  void finish() {
    shutdown();
    try {
      if (!awaitTermination(FINISH_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn("control tasks still ran {} s after the end began", FINISH_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Runnable logged(Runnable task) {
    return () -> {
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        LOG.error("a control task failed; what it was to bring about has not happened", e);
      }
    };
  }
}
