package io.fairlead.epp.frontend.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.DecoratingHttp2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import java.util.List;

/**
 * Passes over what comes of an endpoint's stream after its end, RFC 9113 5.1: who is told of a
 * reset has sent more until then. The decoder itself has the stream reset once more for each frame
 * of that. So many resets are an attack to some, who end the connection, and the answers of all
 * others with it. For clients it does that still: resets are what bounds how much of this they may
 * send.
 */
final class LateFrames extends DecoratingHttp2ConnectionDecoder {

  LateFrames(Http2ConnectionDecoder decoder) {
    super(decoder);
  }

  @Override
  public void decodeFrame(ChannelHandlerContext ctx, ByteBuf in, List<Object> out)
      throws Http2Exception {
    try {
      super.decodeFrame(ctx, in, out);
    } catch (Http2Exception.StreamException e) {
      boolean ended = connection().stream(e.streamId()) == null;
      if (!ended || e.error() != Http2Error.STREAM_CLOSED) {
        throw e;
      }
    }
  }
}
