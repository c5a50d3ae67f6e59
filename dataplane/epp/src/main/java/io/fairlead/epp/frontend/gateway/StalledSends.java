package io.fairlead.epp.frontend.gateway;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Fails a stream of HTTP/2 whose endpoint takes nothing of what is sent for too long: it opens no
 * window, for the stream or for its connection. The kernel, which has the same bound on connections
 * that are not read, sees nothing amiss. Goes before all that writes frames; on the loop of its
 * connection.
 */
final class StalledSends extends ChannelDuplexHandler {

  private final long bound;
  private final Runnable stalled;

  private int unsent;
  private long progressAt;
  private @Nullable Future<?> nextLook;

  /**
   * Of one stream.
   *
   * @param stalled told before the stream is
   */
  StalledSends(Duration bound, Runnable stalled) {
    this.bound = bound.toNanos();
    this.stalled = stalled;
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
    if (unsent == 0) {
      progressAt = now(ctx);
    }
    unsent++;
    ctx.write(msg, promise)
        .addListener(
            done -> {
              unsent--;
              progressAt = now(ctx);
            });
  }

  @Override
  public void flush(ChannelHandlerContext ctx) {
    ctx.flush();
    if (unsent > 0 && nextLook == null) {
      lookLater(ctx);
    }
  }

  private void lookLater(ChannelHandlerContext ctx) {
    long left = progressAt + bound - now(ctx);
    nextLook = ctx.executor().schedule(() -> look(ctx), left, TimeUnit.NANOSECONDS);
  }

  private void look(ChannelHandlerContext ctx) {
    nextLook = null;
    if (unsent == 0) {
      return;
    }
    if (now(ctx) - progressAt < bound) {
      lookLater(ctx);
    } else {
      stalled.run();
      ctx.fireExceptionCaught(new IOException("it takes nothing of what is sent"));
    }
  }

  private static long now(ChannelHandlerContext ctx) {
    return ctx.executor().ticker().nanoTime();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    if (nextLook != null) {
      nextLook.cancel(false);
      nextLook = null;
    }
  }
}
