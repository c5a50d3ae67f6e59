package io.fairlead.epp.frontend.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.DecoratingHttp2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import java.util.List;

/**
 * Opens streams whose heads are refused, for being malformed or one too many, so that they can be
 * reset as any other. The decoder itself forgets such a stream at once, and takes what comes of its
 * body for frames of a stream that never was: an error of the whole connection, which would cut the
 * answers of all others off. A client can have sent that body before it learns of the refusal.
 */
final class KnownStreams extends DecoratingHttp2ConnectionDecoder {

  KnownStreams(Http2ConnectionDecoder decoder) {
    super(decoder);
  }

  @Override
  public void decodeFrame(ChannelHandlerContext ctx, ByteBuf in, List<Object> out)
      throws Http2Exception {
    try {
      super.decodeFrame(ctx, in, out);
    } catch (Http2Exception.StreamException e) {
      Http2Connection.Endpoint<?> client = connection().remote();
      // The codec opens a stream whose head is too long itself, to answer it; but not one too many.
      if (!(e instanceof Http2Exception.HeaderListSizeException) || !client.canOpenStream()) {
        open(client, e.streamId());
      }
      throw e;
    }
  }

  private static void open(Http2Connection.Endpoint<?> client, int stream) {
    if (!client.isValidStreamId(stream) || stream <= client.lastStreamCreated()) {
      return;
    }
    int bound = client.maxActiveStreams();
    client.maxActiveStreams(Integer.MAX_VALUE);
    try {
      client.createStream(stream, false);
    } catch (Http2Exception e) {
      // The client has been told that no more streams are taken: what comes of them is passed over.
    } finally {
      client.maxActiveStreams(bound);
    }
  }
}
