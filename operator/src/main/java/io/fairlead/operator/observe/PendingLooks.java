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
 *
 * @param <K> by which an object is known
 */
final class PendingLooks<K> implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PendingLooks.class);
  private static final Duration LONGEST = Duration.ofSeconds(30);

  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(Thread.ofVirtual().name("orphans").factory());

  private final Function<K, @Nullable Duration> look;
  private final Duration failed;

  /** By object, the look at it that is to come. */
  private final Map<K, Coming> pending = new HashMap<>();

  /**
   * A look that is to come.
   *
   * @param afterFailure how long to wait after it, should it fail
   * @param canComeSooner whether it is waited for, and not since the last one failed
   */
  private record Coming(Duration afterFailure, boolean canComeSooner) {}

  /**
   * @param look at an object, on a thread that may block: when to look again, null for not
   * @param failed how soon to look again after one that failed; then twice as long each time
   */
  PendingLooks(Function<K, @Nullable Duration> look, Duration failed) {
    this.look = look;
    this.failed = failed;
  }

  /** Looks soon, unless that is to come anyway. What failed is not tried sooner for it. */
  void ask(K object) {
    Coming now = new Coming(failed, false);
    synchronized (pending) {
      Coming coming = pending.get(object);
      if (coming != null && !coming.canComeSooner()) {
        return;
      }
      pending.put(object, now);
    }
    later(object, now, Duration.ZERO);
  }

  private void later(K object, Coming coming, Duration wait) {
    try {
      var _ = executor.schedule(() -> run(object, coming), wait.toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // It is closed.
    }
  }

  @SuppressWarnings("ReferenceEquality") // another look that waits as long is another look
  private void run(K object, Coming coming) {
    synchronized (pending) {
      if (pending.get(object) != coming) {
        return; // It came sooner.
      }
      pending.remove(object);
    }
    Duration wait;
    Coming next;
    try {
      wait = look.apply(object);
      next = new Coming(failed, true);
    } catch (RuntimeException e) {
      LOG.warn(
          "the object {} could not be told that it has no pool, trying again: {}",
          object,
          e.toString());
      wait = coming.afterFailure();
      next =
          new Coming(
              wait.compareTo(LONGEST.dividedBy(2)) < 0 ? wait.multipliedBy(2) : LONGEST, false);
    }
    if (wait == null) {
      return;
    }
    synchronized (pending) {
      // Somebody may have asked meanwhile.
      if (pending.putIfAbsent(object, next) != null) {
        return;
      }
    }
    later(object, next, wait);
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
