package io.fairlead.epp.frontend.gateway;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Holds a client to its turn: to send a request, the rest of its head, or more of its body. While
 * it waits for us, no time passes for it. On the loop of its connection.
 *
 * <p>A request that comes in one read costs no timer: the one that is set is looked at when it
 * fires, and set again for what is left.
 */
final class ClientDeadlines {

  /** Told when a client has had its time. */
  interface Owner {

    /** No request came, or no end of its head. */
    void requestTooLate();

    /** The body comes slower than the least. */
    void bodyTooSlow();
  }

  private enum Turn {
    OURS,
    REQUEST,
    HEAD,
    BODY
  }

  private final ClientBounds bounds;
  private final EventLoop loop;
  private final Owner owner;

  private Turn turn = Turn.OURS;
  private long since;
  private long received;
  private @Nullable Future<?> timer;
  private long timerAt;

  ClientDeadlines(ClientBounds bounds, EventLoop loop, Owner owner) {
    this.bounds = bounds;
    this.loop = loop;
    this.owner = owner;
  }

  /** The client waits for us. */
  void ours() {
    turn = Turn.OURS;
  }

  /** A request may come. */
  void request() {
    begin(Turn.REQUEST);
  }

  /** The beginning of a head is here, and not all of it. */
  void head() {
    if (turn == Turn.REQUEST) {
      begin(Turn.HEAD);
    }
  }

  /** A body is on its way, or there is room for more of it again. */
  void body() {
    begin(Turn.BODY);
    received = 0;
  }

  /** So much of the body came. */
  void received(int bytes) {
    received += bytes;
  }

  private void begin(Turn next) {
    turn = next;
    since = now();
  }

  /** What one read brought has been taken: from now on the client is waited for. */
  void settle() {
    if (turn == Turn.OURS) {
      return;
    }
    long due = since + bound();
    if (timer != null && timerAt - due > 0) {
      stop();
    }
    if (timer == null) {
      timerAt = due;
      timer = loop.schedule(this::look, Math.max(0, due - now()), TimeUnit.NANOSECONDS);
    }
  }

  /** The connection is gone. */
  void stop() {
    if (timer != null) {
      timer.cancel(false);
      timer = null;
    }
  }

  private void look() {
    timer = null;
    if (turn != Turn.OURS && now() - since >= bound()) {
      overdue();
    }
    settle();
  }

  private void overdue() {
    if (turn != Turn.BODY) {
      turn = Turn.OURS;
      owner.requestTooLate();
    } else if (received >= bounds.leastInWindow()) {
      body();
    } else {
      turn = Turn.OURS;
      owner.bodyTooSlow();
    }
  }

  private long bound() {
    return switch (turn) {
      case OURS -> Long.MAX_VALUE;
      case REQUEST -> bounds.idle().toNanos();
      case HEAD -> bounds.head().toNanos();
      case BODY -> bounds.bodyWindow().toNanos();
    };
  }

  private long now() {
    return loop.ticker().nanoTime();
  }
}
