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

  /** How long to wait after the next failure, of each object at which a look is to come. */
  private final Map<K, Duration> pending = new HashMap<>();

  /**
   * @param look at an object, on a thread that may block: when to look again, null for not
   * @param failed how soon to look again after one that failed; then twice as long each time
   */
  PendingLooks(Function<K, @Nullable Duration> look, Duration failed) {
    this.look = look;
    this.failed = failed;
  }

  /** Looks soon, unless that is to come anyway. */
  void ask(K object) {
    synchronized (pending) {
      if (pending.putIfAbsent(object, failed) != null) {
        return;
      }
    }
    later(object, Duration.ZERO);
  }

  private void later(K object, Duration wait) {
    try {
      var _ = executor.schedule(() -> run(object), wait.toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // It is closed.
    }
  }

  private void run(K object) {
    Duration afterFailure;
    synchronized (pending) {
      afterFailure = pending.remove(object);
    }
    Duration wait;
    Duration next = failed;
    try {
      wait = look.apply(object);
    } catch (RuntimeException e) {
      LOG.warn(
          "the object {} could not be told that it has no pool, trying again: {}",
          object,
          e.toString());
      wait = afterFailure == null ? failed : afterFailure;
      next = wait.multipliedBy(2).compareTo(LONGEST) < 0 ? wait.multipliedBy(2) : LONGEST;
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
    later(object, wait);
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
