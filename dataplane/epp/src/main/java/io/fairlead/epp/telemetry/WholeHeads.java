package io.fairlead.epp.telemetry;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;

/**
 * Refuses a request whose head was not read to its end. The codec hands on what it has of one, as
 * if that were all: who may see a page is told by headers, such as those of a proxy, which come
 * last.
 */
final class WholeHeads extends ChannelInboundHandlerAdapter {

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof FullHttpRequest request && request.decoderResult().isFailure()) {
      HttpResponseStatus why = status(request.decoderResult().cause());
      request.release();
      var refusal = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, why);
      refusal
          .headers()
          .set(HttpHeaderNames.CONTENT_LENGTH, 0)
          .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
      var _ = context.writeAndFlush(refusal).addListener(done -> end(context));
    } else {
      context.fireChannelRead(message);
    }
  }

  /** A close while something is unread would throw the answer away; the codec drops what comes. */
  private static void end(ChannelHandlerContext context) {
    var _ =
        context.channel() instanceof DuplexChannel duplex
            ? duplex.shutdownOutput()
            : context.close();
  }

  private static HttpResponseStatus status(Throwable cause) {
    if (cause instanceof TooLongHttpLineException) {
      return HttpResponseStatus.REQUEST_URI_TOO_LONG;
    }
    return cause instanceof TooLongHttpHeaderException
        ? HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        : HttpResponseStatus.BAD_REQUEST;
  }
}
