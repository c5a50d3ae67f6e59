package io.fairlead.epp.capture;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that writes a capture. A disk that fails is tried again a second later with new files;
 * what comes meanwhile is counted and lost, and nobody waits for it. The config, the endpoints and
 * the number of pickers that are in force then are what the new files begin with.
 */
final class CaptureWriter {

  private static final Logger LOG = LoggerFactory.getLogger(CaptureWriter.class);

  private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final Duration LONGEST_CLOSE = Duration.ofSeconds(5);

  private final LineQueue queue;
  private final CaptureFolder folder;
  private final Output output;
  private final CaptureCounters counters;
  private final LongSupplier clock;
  private final Thread thread;
  private volatile boolean closing;

  /** Of the writer's thread only. */
  private boolean broken;

  private long brokenAt;
  private long failures;

  private CaptureWriter(LineQueue queue, CaptureFolder folder, Header header, LongSupplier clock) {
    this.queue = queue;
    this.folder = folder;
    this.clock = clock;
    counters = new CaptureCounters(queue);
    output = new Output(folder, header, counters);
    thread = Thread.ofPlatform().name("fairlead-capture").daemon().unstarted(this::run);
  }

  /**
   * Opens the first files and starts the thread.
   *
   * @param clock monotonic nanoseconds
   * @throws IllegalArgumentException if they can't be opened
   */
  static CaptureWriter start(
      LineQueue queue, CaptureFolder folder, Header header, LongSupplier clock) {
    CaptureWriter writer = new CaptureWriter(queue, folder, header, clock);
    try {
      writer.output.open();
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "the capture's folder %s can't be written: %s; give another, or make room"
              .formatted(folder, e),
          e);
    }
    writer.thread.start();
    return writer;
  }

  CaptureCounters counters() {
    return counters;
  }

  /** Writes what is queued and ends the thread; waits for it, but not for ever. */
  void close() {
    closing = true;
    LockSupport.unpark(thread);
    try {
      if (!thread.join(LONGEST_CLOSE)) {
        LOG.warn("the capture in {} is not written to its end: the disk does not answer", folder);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    boolean last;
    do {
      last = closing;
      drain();
      if (!last) {
        LockSupport.parkNanos(this, IDLE_NANOS);
      }
    } while (!last);
    try {
      output.close();
    } catch (IOException e) {
      failed(e);
    }
  }

  private void drain() {
    for (Line line = queue.poll(); line != null; line = queue.poll()) {
      output.note(line);
      if (broken && clock.getAsLong() - brokenAt < RETRY_NANOS) {
        counters.failed(1);
      } else {
        write(line);
      }
    }
    try {
      output.flush();
    } catch (IOException e) {
      failed(e);
    }
  }

  private void write(Line line) {
    try {
      output.write(line);
      broken = false;
    } catch (IOException | RuntimeException e) {
      failed(e);
      counters.failed(1); // last: whoever sees it may count on what follows from it
    }
  }

  /** What was not written is counted by whoever calls. Logged ever more rarely. */
  private void failed(Exception cause) {
    failures++;
    if (Long.bitCount(failures) == 1) {
      LOG.warn(
          "the capture in {} can't be written ({} times so far) and lacks requests; traffic goes on:"
              + " {}",
          folder,
          failures,
          cause.toString());
    }
    broken = true;
    brokenAt = clock.getAsLong();
    try {
      output.close();
    } catch (IOException e) {
      // It is for the same reason, and counted.
    }
  }
}
