package io.fairlead.epp.frontend.extproc;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how long a proxy may be silent where something must come. Looks at the clock once in a
 * while, so that a message costs no new timer.
 */
final class Patience {

  private final ExtProcStream stream;
  private final EventExecutor loop;
  private final long usual;
  private long nanos;
  private long cameAt;
  private @Nullable Future<?> timer;

  /**
   * Nothing is waited for yet.
   *
   * @param usual longest silence, in nanoseconds
   */
  Patience(ExtProcStream stream, EventExecutor loop, long usual) {
    this.stream = stream;
    this.loop = loop;
    this.usual = usual;
    nanos = usual;
  }

  /** Waits from now on, so many times as long as usual. */
  void begin(int times) {
    nanos = times * usual;
    cameAt = loop.ticker().nanoTime();
    if (timer == null) {
      lookIn(nanos);
    }
  }

  void somethingCame() {
    if (timer != null) {
      cameAt = loop.ticker().nanoTime();
    }
  }

  void end() {
    if (timer != null) {
      timer.cancel(false);
      timer = null;
    }
  }

  private void lookIn(long wait) {
    timer = loop.schedule(this::look, wait, TimeUnit.NANOSECONDS);
  }

  private void look() {
    timer = null;
    long left = cameAt + nanos - loop.ticker().nanoTime();
    if (!stream.asksForMore()) {
      lookIn(nanos); // it is not the proxy that is waited for
    } else if (left > 0) {
      lookIn(left);
    } else {
      stream.silent();
    }
  }
}
