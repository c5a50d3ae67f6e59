package io.fairlead.epp.frontend.extproc;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Waits for a moment in which a stream can be left without loss, and leaves it then. */
final class Leaving {

  /**
   * So long nothing must have come before a stream is left. A proxy in full duplex does not keep
   * what it has sent, so a message that crosses the end of the stream is lost to the client. Tokens
   * come in bursts with a pause after each: this is longer than a burst and a round trip to the
   * proxy, and shorter than the pauses.
   */
  private static final long QUIET = TimeUnit.MILLISECONDS.toNanos(3);

  /** A look that comes later than this says nothing: messages may be here and not read. */
  private static final long LATE = TimeUnit.MILLISECONDS.toNanos(10);

  private final ExtProcStream stream;
  private final EventExecutor loop;
  private boolean evenUnanswered;
  private long cameAt;
  private long lookAt;
  private @Nullable Future<?> timer;

  Leaving(ExtProcStream stream, EventExecutor loop) {
    this.stream = stream;
    this.loop = loop;
    messageCame();
  }

  void messageCame() {
    cameAt = loop.ticker().nanoTime();
  }

  /** From now on its response need not have begun. */
  void evenUnanswered() {
    evenUnanswered = true;
    consider();
  }

  /** Something was done with the stream: it may be possible to leave it now. */
  void consider() {
    if (timer == null && canLeave()) {
      lookIn(QUIET);
    }
  }

  private boolean canLeave() {
    return stream.canBeLeft() && !stream.wouldShow() && (evenUnanswered || stream.isAnswered());
  }

  void end() {
    if (timer != null) {
      timer.cancel(false);
      timer = null;
    }
  }

  private void lookIn(long nanos) {
    timer = loop.schedule(this::look, nanos, TimeUnit.NANOSECONDS);
    lookAt = loop.ticker().nanoTime() + nanos;
  }

  private void look() {
    timer = null;
    if (!canLeave()) {
      return;
    }
    long now = loop.ticker().nanoTime();
    long silent = now - cameAt;
    if (now - lookAt > LATE) {
      lookIn(QUIET);
    } else if (silent < QUIET) {
      lookIn(QUIET - silent);
    } else {
      stream.goOnAlone();
    }
  }
}
