package io.fairlead.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Objects as the API server answered us with them last, while informers may not have seen that:
 * what they show would look like something to be written, or asked for, again.
 *
 * <p>Safe to use from any thread.
 */
final class NewestSeen {
  /**
   * In nanoseconds. No informer that works is behind for longer; versions that are lower then are
   * of a cluster that was restored to an earlier state.
   */
  private static final long BEHIND = 30_000_000_000L;

  private static final int MOST = 4_096;

  private final LongSupplier clock;

  /** By UID, the oldest answer first. */
  private final Map<String, Answer> answers = new LinkedHashMap<>();

  /**
   * @param object as the API server answered
   */
  private record Answer(HasMetadata object, long at) {}

  /**
   * @param clock monotonic nanoseconds
   */
  NewestSeen(LongSupplier clock) {
    this.clock = clock;
  }

  /** The API server answered a write of ours, or a question, with this. */
  synchronized void saw(HasMetadata object) {
    long now = clock.getAsLong();
    String uid = object.getMetadata().getUid();
    answers.remove(uid);
    answers.put(uid, new Answer(object, now));
    giveUpOld(now);
  }

  private void giveUpOld(long now) {
    Iterator<Answer> oldest = answers.values().iterator();
    while (oldest.hasNext() && (now - oldest.next().at() >= BEHIND || answers.size() > MOST)) {
      oldest.remove();
    }
  }

  /** The object as it is in the cache, or as it was answered after that. */
  synchronized <R extends HasMetadata> R newest(R cached) {
    giveUpOld(clock.getAsLong());
    String uid = cached.getMetadata().getUid();
    Answer answer = answers.get(uid);
    if (answer == null) {
      return cached;
    }
    if (isOlder(cached, answer.object())) {
      @SuppressWarnings("unchecked") // of one UID
      R later = (R) answer.object();
      return later;
    }
    answers.remove(uid);
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
