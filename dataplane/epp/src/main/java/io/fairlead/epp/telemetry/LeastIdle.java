package io.fairlead.epp.telemetry;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.util.LinkedHashSet;
import java.util.SequencedSet;

/**
 * Bounds how many connections are open at a time: the one that has asked nothing, and was told
 * nothing, for longest makes room for a new one. Goes behind what makes whole requests, so that
 * parts of one do not count. Used by one thread, the loop of all these connections.
 */
@ChannelHandler.Sharable
final class LeastIdle extends ChannelDuplexHandler {

  /** Scrapers, probes and consoles of one picker are a few. */
  static final int MOST = 256;

  private final SequencedSet<Channel> open = new LinkedHashSet<>();

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    open.addLast(ctx.channel());
    if (open.size() > MOST) {
      var _ = open.removeFirst().close();
    }
    ctx.fireChannelActive();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    open.remove(ctx.channel());
    ctx.fireChannelInactive();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object msg) {
    open.addLast(ctx.channel());
    ctx.fireChannelRead(msg);
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
    if (open.contains(ctx.channel())) {
      open.addLast(ctx.channel());
    }
    var _ = ctx.write(msg, promise);
  }
}
