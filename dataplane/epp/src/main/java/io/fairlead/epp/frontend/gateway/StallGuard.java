package io.fairlead.epp.frontend.gateway;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a client off that takes too little of what waits for it: while that is so much that no more
 * is made, and at the end of an answer. On the loop of its connection.
 */
final class StallGuard implements ClientBytes.Client {

  private final Channel channel;
  private final LongSupplier made;
  private final Runnable waits;
  private final StallWatch watch;
  private @Nullable Future<?> nextLook;

  /** The end of an answer that waits; null where nobody asks. */
  private @Nullable ChannelFuture end;

  /** The end of the last one behind it. */
  private @Nullable ChannelFuture last;

  /**
   * Nothing waits yet.
   *
   * @param made bytes that were written so far, as they count while they wait
   * @param waits told when something begins to
   */
  StallGuard(Channel channel, ClientBounds bounds, LongSupplier made, Runnable waits) {
    this.channel = channel;
    this.made = made;
    this.waits = waits;
    watch = new StallWatch(bounds.stall().toNanos(), bounds.rate());
  }

  /** The channel takes more, or no more. */
  void writabilityChanged() {
    if (nextLook == null && !channel.isWritable()) {
      begin();
    } else if (nextLook != null && (channel.isWritable() || isEndAwaited())) {
      watch.pass(now(), taken());
    } else if (nextLook != null) {
      watch.skip(now());
    }
  }

  /**
   * Nothing is asked, and what was answered waits, be it little. Once more is no harm.
   *
   * @param sent done when it waits no more
   */
  void watch(ChannelFuture sent) {
    last = sent;
    if (end == null || end.isDone()) {
      end = sent;
      if (nextLook == null) {
        begin();
      } else if (channel.isWritable()) {
        watch.skip(now()); // else it is watched already
      }
    }
  }

  /** The connection is gone. */
  void stop() {
    if (nextLook != null) {
      nextLook.cancel(false);
      nextLook = null;
    }
  }

  private void begin() {
    watch.restart(now(), taken());
    lookLater();
    waits.run();
  }

  private void lookLater() {
    nextLook = channel.eventLoop().schedule(this::look, watch.pause(), TimeUnit.NANOSECONDS);
  }

  private void look() {
    nextLook = null;
    if (end != null && end.isDone() && !end.equals(last)) {
      end = last;
      watch.restart(now(), taken()); // what was before it has been taken
    }
    boolean waiting = !channel.isWritable() || isEndAwaited();
    if (!waiting || !channel.isActive()) {
      return;
    }
    watch.pass(now(), taken());
    if (watch.isOver()) {
      cutOff();
    } else {
      lookLater();
    }
  }

  @Override
  public void cutOff() {
    // It would stay in the kernel's memory after an ordinary close.
    channel.config().setOption(ChannelOption.SO_LINGER, 0);
    var _ = channel.close();
  }

  private boolean isEndAwaited() {
    return end != null && !end.isDone();
  }

  /** Bytes that the client has taken, from some beginning on. */
  private long taken() {
    return made.getAsLong() - waiting(channel);
  }

  /** Bytes that wait for the client, above or below the mark from which no more are made. */
  static long waiting(Channel channel) {
    WriteBufferWaterMark marks = channel.config().getWriteBufferWaterMark();
    return channel.isWritable()
        ? marks.high() - channel.bytesBeforeUnwritable()
        : marks.low() + channel.bytesBeforeWritable();
  }

  private long now() {
    return channel.eventLoop().ticker().nanoTime();
  }
}
