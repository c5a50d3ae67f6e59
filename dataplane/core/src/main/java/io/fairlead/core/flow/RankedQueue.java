package io.fairlead.core.flow;

import io.fairlead.core.flow.WaitingHeap.ByRank;
import org.jspecify.annotations.Nullable;

/**
 * Requests by rank, and of equal ranks as they came. Most come in this order, and are a list:
 * whoever goes touches its neighbour alone, where a heap would fetch a dozen that wait from memory.
 * Only those that come out of order take a heap.
 */
final class RankedQueue {

  /** Of {@link Waiting#inFlow}: it is in the list, and has no index. */
  private static final int LISTED = Integer.MAX_VALUE;

  private final WaitingHeap unordered = new ByRank();
  private @Nullable Waiting head;
  private @Nullable Waiting tail;
  private int listed;

  int size() {
    return listed + unordered.size();
  }

  @Nullable Waiting first() {
    Waiting other = unordered.first();
    return head == null || (other != null && unordered.before(other, head)) ? other : head;
  }

  void add(Waiting entry) {
    Waiting last = tail;
    Waiting first = head;
    if (last == null || first == null) {
      head = entry;
      tail = entry;
    } else if (unordered.before(last, entry)) {
      entry.inFlowBefore = last;
      last.inFlowAfter = entry;
      tail = entry;
    } else if (unordered.before(entry, first)) {
      entry.inFlowAfter = first;
      first.inFlowBefore = entry;
      head = entry;
    } else {
      unordered.add(entry);
      return;
    }
    entry.inFlow = LISTED;
    listed++;
  }

  void remove(Waiting entry) {
    if (entry.inFlow != LISTED) {
      unordered.remove(entry);
      return;
    }
    Waiting before = entry.inFlowBefore;
    Waiting after = entry.inFlowAfter;
    if (before == null) {
      head = after;
    } else {
      before.inFlowAfter = after;
    }
    if (after == null) {
      tail = before;
    } else {
      after.inFlowBefore = before;
    }
    entry.inFlowBefore = null;
    entry.inFlowAfter = null;
    entry.inFlow = -1;
    listed--;
  }
}
