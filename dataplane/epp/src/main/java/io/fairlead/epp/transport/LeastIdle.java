package io.fairlead.epp.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how many connections are open at a time: the one that has asked nothing, and was told
 * nothing, for longest makes room for a new one. Where it goes behind what makes whole requests,
 * parts of one do not count. Safe to use from any thread.
 */
@ChannelHandler.Sharable
public final class LeastIdle extends ChannelDuplexHandler {

  /** Scrapers, probes and consoles of one picker are a few. */
  public static final int MOST = 256;

  private final SequencedSet<Channel> open = new LinkedHashSet<>();

  /** None is open. */
  public LeastIdle() {}

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    Channel least = opened(ctx.channel());
    if (least != null) {
      var _ = least.close();
    }
    ctx.fireChannelActive();
  }

  /** Who is to make room for it; null where there is some. */
  private synchronized @Nullable Channel opened(Channel channel) {
    open.addLast(channel);
    return open.size() > MOST ? open.removeFirst() : null;
  }

  private synchronized void used(Channel channel) {
    if (open.contains(channel)) {
      open.addLast(channel);
    }
  }

  private synchronized void closed(Channel channel) {
    open.remove(channel);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    closed(ctx.channel());
    ctx.fireChannelInactive();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object msg) {
    used(ctx.channel());
    ctx.fireChannelRead(msg);
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
    used(ctx.channel());
    var _ = ctx.write(msg, promise);
  }
}
