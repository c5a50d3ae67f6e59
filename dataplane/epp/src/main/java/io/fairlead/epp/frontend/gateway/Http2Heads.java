package io.fairlead.epp.frontend.gateway;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;

/**
 * Fails a stream whose request has no method or no path, or such as can't be, RFC 9113 8.1.1. Goes
 * before the codec that makes a message of it, which loses a buffer over such a head.
 */
final class Http2Heads extends ChannelInboundHandlerAdapter {

  private boolean begun;
  private boolean refused;

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object msg) {
    if (!begun && msg instanceof Http2HeadersFrame frame) {
      begun = true;
      Http2Headers head = frame.headers();
      refused = !isMethod(head.method()) || !isPath(head.path());
      if (refused) {
        ctx.fireExceptionCaught(
            new Http2Exception(Http2Error.PROTOCOL_ERROR, "a request without a method or a path"));
      }
    }
    if (refused) {
      ReferenceCountUtil.release(msg);
    } else {
      ctx.fireChannelRead(msg);
    }
  }

  /** As the codec judges it. One that asks for a tunnel has no path, and is of no use here. */
  private static boolean isMethod(@Nullable CharSequence name) {
    if (name == null || HttpMethod.CONNECT.asciiName().contentEqualsIgnoreCase(name)) {
      return false;
    }
    try {
      var _ = HttpMethod.valueOf(name.toString());
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static boolean isPath(@Nullable CharSequence path) {
    return path != null && HttpUtil.isEncodingSafeStartLineToken(path);
  }
}
