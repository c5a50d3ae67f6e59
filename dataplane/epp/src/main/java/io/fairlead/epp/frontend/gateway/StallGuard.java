package io.fairlead.epp.frontend.gateway;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a client off that takes nothing of what waits for it: while that is so much that no more is
 * made, and at the end of an answer. On the loop of its connection.
 */
final class StallGuard implements ClientBytes.Client {

  private final Channel channel;
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
   * @param waits told when something begins to
   */
  StallGuard(Channel channel, long boundNanos, Runnable waits) {
    this.channel = channel;
    this.waits = waits;
    watch = new StallWatch(boundNanos);
  }

  /** The channel takes more, or no more. */
  void writabilityChanged() {
    watch.restart(now());
    if (!channel.isWritable() && nextLook == null) {
      begin();
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
      if (channel.isWritable()) {
        watch.restart(now()); // else it is watched already
      }
      if (nextLook == null) {
        begin();
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
      watch.restart(now()); // what was before it has been taken
    }
    boolean waiting = !channel.isWritable() || (end != null && !end.isDone());
    if (!waiting || !channel.isActive()) {
      return;
    }
    if (watch.stalled(now(), waiting())) {
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

  /** Bytes that wait for the client, above or below the mark from which no more are made. */
  long waiting() {
    WriteBufferWaterMark marks = channel.config().getWriteBufferWaterMark();
    return channel.isWritable()
        ? marks.high() - channel.bytesBeforeUnwritable()
        : marks.low() + channel.bytesBeforeWritable();
  }

  private long now() {
    return channel.eventLoop().ticker().nanoTime();
  }
}
