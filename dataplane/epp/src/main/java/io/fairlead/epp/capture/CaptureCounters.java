package io.fairlead.epp.capture;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.atomic.AtomicLong;

/** What became of a capture's lines. Written by the writer, read by any thread. */
public final class CaptureCounters {

  private final LineQueue queue;
  private final AtomicLong written = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();

  CaptureCounters(LineQueue queue) {
    this.queue = queue;
  }

  void written(long lines, long size) {
    written.addAndGet(lines);
    bytes.addAndGet(size);
  }

  void failed(long lines) {
    failed.addAndGet(lines);
  }

  /** Lines that are in a file. */
  public long written() {
    return written.get();
  }

  /** Lines that did not fit into the queue. */
  public long overflowed() {
    return queue.dropped();
  }

  /** Lines that the disk did not take. */
  public long failed() {
    return failed.get();
  }

  /** Makes them metrics. */
  public void register(MeterRegistry registry) {
    FunctionCounter.builder("fairlead.capture.lines", written, AtomicLong::get)
        .description("Lines written to the capture.")
        .register(registry);
    FunctionCounter.builder("fairlead.capture.bytes", bytes, AtomicLong::get)
        .description("Bytes written to the capture.")
        .register(registry);
    FunctionCounter.builder("fairlead.capture.dropped", queue, LineQueue::dropped)
        .description("Lines that the capture lacks, by reason.")
        .tag("reason", "queue")
        .register(registry);
    FunctionCounter.builder("fairlead.capture.dropped", failed, AtomicLong::get)
        .description("Lines that the capture lacks, by reason.")
        .tag("reason", "disk")
        .register(registry);
  }
}
