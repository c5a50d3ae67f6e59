package io.fairlead.epp.frontend.gateway;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;

/** Fails one write, as it fails where there is no memory for it, and counts all. */
final class FailingWrite extends ChannelOutboundHandlerAdapter {

  private int failing = -1;
  private int all;

  /** The write after so many fails. */
  void failAfter(int writes) {
    failing = all + writes;
  }

  int all() {
    return all;
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
    if (all++ == failing) {
      ReferenceCountUtil.release(msg);
      promise.setFailure(new OutOfMemoryError("of the test"));
    } else {
      var _ = ctx.write(msg, promise);
    }
  }
}
