package io.fairlead.epp.frontend.gateway;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Cuts a client off that takes nothing of what waits for it. On the loop of its connection. */
final class StallGuard {

  private final Channel channel;
  private final StallWatch watch;
  private @Nullable Future<?> nextLook;

  StallGuard(Channel channel, long boundNanos) {
    this.channel = channel;
    watch = new StallWatch(boundNanos);
  }

  /** The channel takes more, or no more. */
  void writabilityChanged() {
    watch.restart(now());
    if (!channel.isWritable() && nextLook == null) {
      lookLater();
    }
  }

  /** The connection is gone. */
  void stop() {
    if (nextLook != null) {
      nextLook.cancel(false);
      nextLook = null;
    }
  }

  private void lookLater() {
    nextLook = channel.eventLoop().schedule(this::look, watch.pause(), TimeUnit.NANOSECONDS);
  }

  private void look() {
    nextLook = null;
    if (channel.isWritable() || !channel.isActive()) {
      return;
    }
    if (watch.stalled(now(), channel.bytesBeforeWritable())) {
      // What waits would stay in the kernel's memory after an ordinary close.
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
      var _ = channel.close();
    } else {
      lookLater();
    }
  }

  private long now() {
    return channel.eventLoop().ticker().nanoTime();
  }
}
