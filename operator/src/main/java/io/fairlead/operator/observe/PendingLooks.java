package io.fairlead.operator.observe;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at objects that are to come, one at a time: at most one for each object, however often it
 * is asked for, and none that fails ends them.
 *
 * <p>Safe to use from any thread.
 */
final class PendingLooks implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PendingLooks.class);
  private static final Duration LONGEST = Duration.ofMinutes(5);

  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(Thread.ofVirtual().name("orphans").factory());

  private final Function<String, @Nullable Duration> look;
  private final Duration failed;

  /** How long to wait after the next failure, of each object at which a look is to come, by UID. */
  private final Map<String, Duration> pending = new HashMap<>();

  /**
   * @param look at the object of a UID, on a thread that may block: when to look again, null for
   *     not
   * @param failed how soon to look again after one that failed; then twice as long each time
   */
  PendingLooks(Function<String, @Nullable Duration> look, Duration failed) {
    this.look = look;
    this.failed = failed;
  }

  /** Looks soon, unless that is to come anyway. */
  void ask(String uid) {
    synchronized (pending) {
      if (pending.putIfAbsent(uid, failed) != null) {
        return;
      }
    }
    later(uid, Duration.ZERO);
  }

  private void later(String uid, Duration wait) {
    try {
      var _ = executor.schedule(() -> run(uid), wait.toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // It is closed.
    }
  }

  private void run(String uid) {
    Duration afterFailure;
    synchronized (pending) {
      afterFailure = pending.remove(uid);
    }
    Duration wait;
    Duration next = failed;
    try {
      wait = look.apply(uid);
    } catch (RuntimeException e) {
      LOG.warn(
          "the object {} could not be told that it has no pool, trying again: {}",
          uid,
          e.toString());
      wait = afterFailure == null ? failed : afterFailure;
      next = wait.multipliedBy(2).compareTo(LONGEST) < 0 ? wait.multipliedBy(2) : LONGEST;
    }
    if (wait == null) {
      return;
    }
    synchronized (pending) {
      // Somebody may have asked meanwhile.
      if (pending.putIfAbsent(uid, next) != null) {
        return;
      }
    }
    later(uid, wait);
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
