package io.fairlead.epp.shadow;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A bounded queue from one thread to another. In an array, since the nodes of a linked queue that
 * have grown old keep young garbage alive.
 */
final class Mailbox<T> {

  /** Null once nobody is to get what is in it. */
  private volatile @Nullable AtomicReferenceArray<@Nullable T> ring;

  private final int mask;

  /** Written by the producer alone. */
  private final AtomicLong added = new AtomicLong();

  /** Written by the consumer alone. */
  private final AtomicLong taken = new AtomicLong();

  /**
   * An empty one.
   *
   * @param capacity a power of two
   */
  Mailbox(int capacity) {
    ring = new AtomicReferenceArray<>(capacity);
    mask = capacity - 1;
  }

  /** How many are in it. */
  int size() {
    return (int) (added.get() - taken.get());
  }

  /** Adds one; false when it is full, or dropped. The producer only. */
  boolean add(T one) {
    AtomicReferenceArray<@Nullable T> to = ring;
    long at = added.get();
    if (to == null || at - taken.get() > mask) {
      return false;
    }
    to.setPlain((int) at & mask, one);
    added.setRelease(at + 1);
    return true;
  }

  /** Takes the oldest; null when it is empty, or dropped. The consumer only. */
  @Nullable T poll() {
    AtomicReferenceArray<@Nullable T> from = ring;
    long at = taken.get();
    if (from == null || at == added.getAcquire()) {
      return null;
    }
    int slot = (int) at & mask;
    T one = from.getPlain(slot);
    from.setPlain(slot, null);
    taken.setRelease(at + 1);
    return one;
  }

  /** Lets go of all that is in it, for good: the consumer may never come to it. Any thread. */
  void drop() {
    ring = null;
  }
}
