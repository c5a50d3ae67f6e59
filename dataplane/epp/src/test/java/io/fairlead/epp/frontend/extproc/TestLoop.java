package io.fairlead.epp.frontend.extproc;

import io.netty.util.concurrent.AbstractScheduledEventExecutor;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The test's own thread as an event loop: runs tasks at once, later ones when told the time. */
final class TestLoop extends AbstractScheduledEventExecutor {

  private final MockTicker ticker = Ticker.newMockTicker();

  void advance(Duration time) {
    ticker.advance(time.toNanos(), TimeUnit.NANOSECONDS);
    for (Runnable task = pollScheduledTask(ticker.nanoTime());
        task != null;
        task = pollScheduledTask(ticker.nanoTime())) {
      task.run();
    }
  }

  /** Whether a task waits for its time. */
  boolean hasTimer() {
    return nextScheduledTaskNano() >= 0;
  }

  @Override
  public Ticker ticker() {
    return ticker;
  }

  @Override
  public void execute(Runnable task) {
    task.run();
  }

  @Override
  public boolean inEventLoop(Thread thread) {
    return true;
  }

  @Override
  public boolean isShuttingDown() {
    return false;
  }

  @Override
  public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
    return terminationFuture();
  }

  @Override
  public Future<?> terminationFuture() {
    return new DefaultPromise<Void>(GlobalEventExecutor.INSTANCE);
  }

  @Override
  @Deprecated
  public void shutdown() {}

  @Override
  public boolean isShutdown() {
    return false;
  }

  @Override
  public boolean isTerminated() {
    return false;
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) {
    return false;
  }
}
