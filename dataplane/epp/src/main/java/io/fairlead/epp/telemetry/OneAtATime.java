package io.fairlead.epp.telemetry;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Hands a connection's requests on one after the other: the next one when the answer to the one
 * before it is with the kernel. So answers come in the order of their requests, whichever is ready
 * first, and a client that takes none of them has one at a time made.
 *
 * <p>Where an answer begins that goes on, there is nothing to wait for: who has asked behind it, or
 * asks then, is cut off.
 */
final class OneAtATime extends ChannelDuplexHandler {

  /** That came in one read with the one that is being answered; who sends more is cut off. */
  static final int MOST = 128;

  private final Deque<FullHttpRequest> waiting = new ArrayDeque<>();
  private boolean busy;

  /** Whether the answer that is under way is a stream. */
  private boolean streaming;

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (!(message instanceof FullHttpRequest request)) {
      context.fireChannelRead(message);
    } else if (!busy) {
      busy = true;
      context.fireChannelRead(request);
    } else if (streaming || waiting.size() == MOST) {
      request.release();
      var _ = context.close();
    } else {
      waiting.add(request);
      context.channel().config().setAutoRead(false);
    }
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    if (message instanceof LastHttpContent) {
      var _ = context.write(message, promise.unvoid().addListener(done -> next(context)));
      return;
    }
    var _ = context.write(message, promise);
    if (message instanceof HttpResponse) {
      streaming = true;
      if (!waiting.isEmpty()) {
        var _ = context.close();
      }
    }
  }

  private void next(ChannelHandlerContext context) {
    streaming = false;
    @Nullable FullHttpRequest request = waiting.poll();
    if (request == null) {
      busy = false;
      context.channel().config().setAutoRead(true);
    } else {
      context.fireChannelRead(request);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    letGo();
    context.fireChannelInactive();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    letGo();
  }

  private void letGo() {
    waiting.forEach(FullHttpRequest::release);
    waiting.clear();
  }
}
