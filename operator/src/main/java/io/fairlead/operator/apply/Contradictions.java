package io.fairlead.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What was said of an object in its status, and somebody has put otherwise since. Two operators
 * that serve the same pools and don't agree would answer each other as fast as they can: each write
 * wakes the other. So the same is said again a few times at once, then rarely; what is new is said
 * at once.
 *
 * <p>Safe to use from any thread.
 */
public final class Contradictions {
  private static final Logger LOG = LoggerFactory.getLogger(Contradictions.class);
  private static final int MOST = 4_096;

  private final RepairBudget budget;
  private final LongSupplier nanos;

  /** By UID of the object, a hash of what was said last; the oldest first. */
  private final Map<String, Integer> said = new LinkedHashMap<>();

  /** UIDs of objects of which it was logged. */
  private final Set<String> contended = ConcurrentHashMap.newKeySet();

  /**
   * @param oneMore how long until the same is said once more
   * @param nanos a clock that never jumps
   */
  public Contradictions(Duration oneMore, LongSupplier nanos) {
    budget = new RepairBudget(oneMore);
    this.nanos = nanos;
  }

  /**
   * How long not to say it.
   *
   * @param statement all that is to be said, but for times
   * @return empty when it may be said now
   */
  Optional<Duration> left(HasMetadata object, Object statement) {
    String uid = object.getMetadata().getUid();
    if (isNew(uid, statement)) {
      return Optional.empty();
    }
    Optional<Duration> left = budget.left(uid, now());
    if (left.isPresent() && contended.add(uid)) {
      LOG.warn(
          "the status of {} {}/{} is changed by somebody again and again, as where two operators serve it; it is put back rarely from now on",
          object.getKind(),
          object.getMetadata().getNamespace(),
          object.getMetadata().getName());
    }
    return left;
  }

  /** It was said. */
  void said(HasMetadata object, Object statement) {
    String uid = object.getMetadata().getUid();
    if (!isNew(uid, statement)) {
      budget.take(uid, now());
    } else if (budget.left(uid, now()).isEmpty()) {
      contended.remove(uid);
    }
    synchronized (said) {
      said.remove(uid);
      said.put(uid, statement.hashCode());
      if (said.size() > MOST) {
        var oldest = said.keySet().iterator();
        contended.remove(oldest.next());
        oldest.remove();
      }
    }
  }

  private boolean isNew(String uid, Object statement) {
    synchronized (said) {
      Integer last = said.get(uid);
      return last == null || last != statement.hashCode();
    }
  }

  private Instant now() {
    return Instant.EPOCH.plusNanos(nanos.getAsLong());
  }
}
