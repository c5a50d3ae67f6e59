package io.fairlead.epp.frontend.extproc;

import java.util.concurrent.atomic.LongAdder;

/** What became of the streams of a server. Readable from any thread. */
public final class StreamCounters {

  private final LongAdder opened = new LongAdder();
  private final LongAdder closed = new LongAdder();
  private final LongAdder protocolErrors = new LongAdder();
  private final LongAdder failures = new LongAdder();

  StreamCounters() {}

  /** Streams opened so far. */
  public long opened() {
    return opened.sum();
  }

  /** Streams open now. */
  public long active() {
    return Math.max(0, opened.sum() - closed.sum());
  }

  /** Streams ended because the proxy broke the protocol, or is set up for a mode not served. */
  public long protocolErrors() {
    return protocolErrors.sum();
  }

  /** Streams ended by an error of ours. */
  public long failures() {
    return failures.sum();
  }

  void streamOpened() {
    opened.increment();
  }

  void streamClosed() {
    closed.increment();
  }

  void protocolError() {
    protocolErrors.increment();
  }

  void failure() {
    failures.increment();
  }
}
