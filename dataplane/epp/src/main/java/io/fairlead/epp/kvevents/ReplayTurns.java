package io.fairlead.epp.kvevents;

import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whose engines are being asked for what they told before: a few at a time, since each replay, and
 * what comes meanwhile, takes memory. The others wait in the order in which they wanted to ask. On
 * the reader's thread only.
 */
final class ReplayTurns {

  /** Replays at once: what is kept meanwhile is 32 MiB of all together. */
  static final int MOST = 4;

  private final Set<KvEventFeed> held = new HashSet<>();
  private final SequencedSet<KvEventFeed> waiting = new LinkedHashSet<>();

  /** Whether one has a turn, as it had before or as it gets now; if not, it waits for one. */
  boolean take(KvEventFeed feed) {
    if (held.contains(feed)) {
      return true;
    }
    waiting.add(feed);
    if (held.size() >= MOST || !waiting.getFirst().equals(feed)) {
      return false;
    }
    waiting.remove(feed);
    held.add(feed);
    return true;
  }

  /** Its replay is over, or it wants none any more. */
  void leave(KvEventFeed feed) {
    held.remove(feed);
    waiting.remove(feed);
  }

  /** Its replay is over; it may have begun to wait for the next. */
  void ended(KvEventFeed feed) {
    held.remove(feed);
  }

  /** Whether one that wants to ask can do so at once. */
  boolean isFree() {
    return held.size() < MOST && waiting.isEmpty();
  }

  /** Whose turn it is; null while that is nobody's. */
  @Nullable KvEventFeed next() {
    return held.size() < MOST && !waiting.isEmpty() ? waiting.getFirst() : null;
  }
}
