package io.fairlead.cli;

import io.fairlead.lab.load.LoadRun;
import io.fairlead.lab.workload.Traffic;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.ToDoubleFunction;

/**
 * A load run on a thread of its own, with a progress bar.
 *
 * @param limit most requests to send
 * @param longest time of the workload after which none is sent
 */
record Sending(LoadRun run, Traffic traffic, long limit, Duration longest) {

  private static final long TICK_MILLIS = 200;

  /**
   * Sends all of it.
   *
   * @param total how much there is to do, in any unit
   * @param done how much of it is done after so many seconds
   * @return how long it took
   */
  Duration untilDone(double total, ToDoubleFunction<Double> done) throws InterruptedException {
    long began = System.nanoTime();
    FutureTask<Boolean> sending = new FutureTask<>(this::send);
    Thread.ofPlatform().name("replay").daemon().start(sending);
    try (Progress progress = Progress.onStderr("replay", total)) {
      double seen = 0;
      while (!ended(sending)) {
        double now = done.applyAsDouble((System.nanoTime() - began) / 1e9);
        progress.advance(now - seen);
        seen = now;
      }
    }
    return Duration.ofNanos(System.nanoTime() - began);
  }

  private boolean send() throws InterruptedException {
    run.send(traffic, limit, longest);
    return true;
  }

  private static boolean ended(FutureTask<Boolean> sending) throws InterruptedException {
    try {
      return sending.get(TICK_MILLIS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException("the load could not be sent: " + e.getCause(), e);
    }
  }
}
