package io.fairlead.epp.capture;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Lines on their way from the pool's loop to the writer. Takes no lock and never waits: what does
 * not fit is dropped and counted. Of the lines that all later ones are read by, the config, the
 * endpoints and the number of pickers, the newest always fits.
 */
final class LineQueue {

  private final ConcurrentLinkedQueue<Place> lines = new ConcurrentLinkedQueue<>();
  private final Slot config = new Slot();
  private final Slot endpoints = new Slot();
  private final Slot replicas = new Slot();
  private final AtomicLong room;
  private final AtomicLong dropped = new AtomicLong();

  /** A place in the queue. */
  @FunctionalInterface
  private interface Place {
    @Nullable Line take();
  }

  /** Of one kind the newest, which takes no room; in the queue once while there is one. */
  private static final class Slot implements Place {
    private final AtomicReference<@Nullable Line> newest = new AtomicReference<>();

    @Override
    public @Nullable Line take() {
      return newest.getAndSet(null);
    }
  }

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
    Slot slot = slot(line);
    if (slot != null) {
      Line before = slot.newest.get();
      // Also where there is room by now: it must not overtake the one that waits.
      if (before != null && slot.newest.compareAndSet(before, line)) {
        dropped.incrementAndGet();
        return;
      }
    }
    int weight = line.weight();
    // Only the reader adds room meanwhile, so that there can't be less of it than was seen.
    if (room.get() >= weight) {
      room.addAndGet(-weight);
      lines.add(() -> taken(line));
    } else if (slot == null) {
      dropped.incrementAndGet();
    } else {
      slot.newest.set(line);
      lines.add(slot);
    }
  }

  private @Nullable Slot slot(Line line) {
    return switch (line) {
      case Line.Config _ -> config;
      case Line.Endpoints _ -> endpoints;
      case Line.Replicas _ -> replicas;
      case Line.Scrape _,
          Line.Unreachable _,
          Line.Ticks _,
          Line.Probed _,
          Line.Unasked _,
          Line.RefusedWaiting _,
          Line.NotTold _,
          CapturedRequest _ ->
          null;
    };
  }

  private Line taken(Line line) {
    room.addAndGet(line.weight());
    return line;
  }

  /** By one other thread. */
  @Nullable Line poll() {
    Place next = lines.poll();
    return next == null ? null : next.take();
  }

  long dropped() {
    return dropped.get();
  }
}
