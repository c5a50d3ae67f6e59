package io.fairlead.epp.frontend.gateway;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;

/**
 * Fails one write, as it fails where there is no memory for it unless told otherwise, and counts
 * all.
 */
final class FailingWrite extends ChannelOutboundHandlerAdapter {

  private int failing = -1;
  private Throwable cause = new OutOfMemoryError("of the test");
  private int all;

  /** The write after so many fails. */
  void failAfter(int writes) {
    failing = all + writes;
  }

  /** The same, with this in place of a want of memory. */
  void failAfter(int writes, Throwable why) {
    failAfter(writes);
    cause = why;
  }

  int all() {
    return all;
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
    if (all++ == failing) {
      ReferenceCountUtil.release(msg);
      promise.setFailure(cause);
    } else {
      var _ = ctx.write(msg, promise);
    }
  }
}
