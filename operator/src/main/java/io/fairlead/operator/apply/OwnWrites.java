package io.fairlead.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Objects as our last writes left them, while informers may not have seen that: what they show
 * would look like something to be written again.
 *
 * <p>Safe to use from any thread.
 */
final class OwnWrites {
  /**
   * In nanoseconds. No informer that works is behind for longer; versions that are lower then are
   * of a cluster that was restored to an earlier state.
   */
  private static final long BEHIND = 30_000_000_000L;

  private static final int MOST = 4_096;

  private final LongSupplier clock;

  /** By UID, the oldest write first. */
  private final Map<String, Write> writes = new LinkedHashMap<>();

  /**
   * @param left the object as the API server answered
   */
  private record Write(HasMetadata left, long at) {}

  /**
   * @param clock monotonic nanoseconds
   */
  OwnWrites(LongSupplier clock) {
    this.clock = clock;
  }

  /** A write of ours left the object so. */
  synchronized void wrote(HasMetadata left) {
    long now = clock.getAsLong();
    String uid = left.getMetadata().getUid();
    writes.remove(uid);
    writes.put(uid, new Write(left, now));
    giveUpOld(now);
  }

  private void giveUpOld(long now) {
    Iterator<Write> oldest = writes.values().iterator();
    while (oldest.hasNext() && (now - oldest.next().at() >= BEHIND || writes.size() > MOST)) {
      oldest.remove();
    }
  }

  /** The object as it is in the cache, or as we left it after that. */
  synchronized <R extends HasMetadata> R newest(R cached) {
    giveUpOld(clock.getAsLong());
    String uid = cached.getMetadata().getUid();
    Write write = writes.get(uid);
    if (write == null) {
      return cached;
    }
    if (isOlder(cached, write.left())) {
      @SuppressWarnings("unchecked") // of one UID
      R own = (R) write.left();
      return own;
    }
    writes.remove(uid);
    return cached;
  }

  private static boolean isOlder(HasMetadata one, HasMetadata other) {
    try {
      return Long.parseLong(one.getMetadata().getResourceVersion())
          < Long.parseLong(other.getMetadata().getResourceVersion());
    } catch (NumberFormatException e) {
      return false; // then the API server says so, with a conflict
    }
  }
}
