package io.fairlead.epp.capture;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Lines on their way from the pool's loop to the writer. Takes no lock and never waits: what does
 * not fit is dropped and counted.
 */
final class LineQueue {

  private final ConcurrentLinkedQueue<Line> lines = new ConcurrentLinkedQueue<>();
  private final AtomicLong room;
  private final AtomicLong dropped = new AtomicLong();

  /**
   * A queue.
   *
   * @param bytes most memory that lines may keep in it
   */
  LineQueue(long bytes) {
    room = new AtomicLong(bytes);
  }

  /** By one thread. */
  void offer(Line line) {
    int weight = line.weight();
    // Only the reader adds room meanwhile, so that there can't be less of it than was seen.
    if (room.get() < weight) {
      dropped.incrementAndGet();
      return;
    }
    room.addAndGet(-weight);
    lines.add(line);
  }

  /** By one other thread. */
  @Nullable Line poll() {
    Line line = lines.poll();
    if (line != null) {
      room.addAndGet(line.weight());
    }
    return line;
  }

  long dropped() {
    return dropped.get();
  }
}
