package io.fairlead.core.flow;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A binary heap of requests whose entries know their index, so that one that hangs up is taken out
 * of the middle in logarithmic time.
 */
abstract class WaitingHeap {

  private static final int LEAST = 4;

  private @Nullable Waiting[] entries = new Waiting[LEAST];
  private int size;

  /** Whether the one goes before the other. */
  abstract boolean before(Waiting one, Waiting other);

  abstract int index(Waiting entry);

  abstract void index(Waiting entry, int index);

  int size() {
    return size;
  }

  @Nullable Waiting first() {
    return size == 0 ? null : entries[0];
  }

  void add(Waiting entry) {
    if (size == entries.length) {
      entries = Arrays.copyOf(entries, 2 * size);
    }
    up(size++, entry);
  }

  void remove(Waiting entry) {
    int hole = index(entry);
    Waiting last = at(--size);
    entries[size] = null;
    index(entry, -1);
    if (last != entry) {
      // The last one may belong above the hole or below it: one of both does nothing.
      up(hole, last);
      down(index(last), last);
    }
    if (entries.length > LEAST && size < entries.length / LEAST) {
      entries = Arrays.copyOf(entries, entries.length / 2);
    }
  }

  private Waiting at(int index) {
    Waiting entry = entries[index];
    if (entry == null) {
      throw new IllegalStateException("no entry at " + index + " of " + size);
    }
    return entry;
  }

  private void up(int hole, Waiting entry) {
    int at = hole;
    while (at > 0 && before(entry, at((at - 1) / 2))) {
      put(at, at((at - 1) / 2));
      at = (at - 1) / 2;
    }
    put(at, entry);
  }

  private void down(int hole, Waiting entry) {
    int at = hole;
    while (2 * at + 1 < size) {
      int child = 2 * at + 1;
      if (child + 1 < size && before(at(child + 1), at(child))) {
        child++;
      }
      if (!before(at(child), entry)) {
        break;
      }
      put(at, at(child));
      at = child;
    }
    put(at, entry);
  }

  private void put(int at, Waiting entry) {
    entries[at] = entry;
    index(entry, at);
  }

  /** By rank, and of equal ranks as they came. */
  static final class ByRank extends WaitingHeap {
    @Override
    boolean before(Waiting one, Waiting other) {
      return one.rank != other.rank ? one.rank < other.rank : one.sequence() < other.sequence();
    }

    @Override
    int index(Waiting entry) {
      return entry.inFlow;
    }

    @Override
    void index(Waiting entry, int index) {
      entry.inFlow = index;
    }
  }

  /** By the time when they will have waited too long. */
  static final class ByExpiry extends WaitingHeap {
    @Override
    boolean before(Waiting one, Waiting other) {
      return one.expiresAt < other.expiresAt;
    }

    @Override
    int index(Waiting entry) {
      return entry.inExpiry;
    }

    @Override
    void index(Waiting entry, int index) {
      entry.inExpiry = index;
    }
  }
}
