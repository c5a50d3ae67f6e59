package io.fairlead.epp.memory;

import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A bound on bytes that are in use at a time, with a line for those who want some when there are
 * none. First come, first served: a large claim at the head is not passed by small ones, or it
 * might wait for ever.
 *
 * <p>Safe to use from any thread. Takes no lock while nobody waits.
 */
final class Share {

  private final long limit;
  private final int longestLine;
  private final AtomicLong used = new AtomicLong();

  /**
   * How many stand in line; raised before the last look at what is free, so that none is missed.
   */
  private final AtomicInteger waiting = new AtomicInteger();

  /** Guarded by this. */
  private final ArrayDeque<Claim> line = new ArrayDeque<>();

  Share(long limit, int longestLine) {
    this.limit = limit;
    this.longestLine = longestLine;
  }

  long limit() {
    return limit;
  }

  long used() {
    return used.get();
  }

  int waiting() {
    return waiting.get();
  }

  /** Takes so many bytes if they are free and nobody waits. */
  boolean take(long bytes) {
    return waiting.get() == 0 && charge(bytes);
  }

  /** Counts bytes that are in the process already, whether there is room for them or not. */
  void force(long bytes) {
    used.addAndGet(bytes);
  }

  /** Stands in line; false if the line is too long already. */
  boolean queue(Claim claim) {
    synchronized (this) {
      if (line.size() >= longestLine) {
        return false;
      }
      line.addLast(claim);
      waiting.incrementAndGet();
    }
    serve();
    return true;
  }

  /** Leaves the line; false if what was claimed has been taken meanwhile. */
  boolean withdraw(Claim claim) {
    synchronized (this) {
      if (!line.remove(claim)) {
        return false;
      }
      waiting.decrementAndGet();
    }
    serve();
    return true;
  }

  /** Gives bytes back. */
  void give(long bytes) {
    used.addAndGet(-bytes);
    if (waiting.get() > 0) {
      serve();
    }
  }

  private synchronized void serve() {
    for (Claim first = line.peekFirst(); first != null; first = line.peekFirst()) {
      if (!charge(first.bytes())) {
        return;
      }
      line.removeFirst();
      waiting.decrementAndGet();
      first.granted();
    }
  }

  private boolean charge(long bytes) {
    for (long before = used.get(); bytes <= limit - before; before = used.get()) {
      if (used.compareAndSet(before, before + bytes)) {
        return true;
      }
    }
    return false;
  }
}
