package io.fairlead.epp.frontend.gateway;

import io.fairlead.epp.openai.OpenAiError;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;

/**
 * Makes frames of a client's bytes. A head that is too long it answers itself, since no stream
 * comes of it: as any other request that is refused.
 */
final class ClientFrames extends Http2FrameCodec {

  private final Gateway gateway;

  private ClientFrames(
      Gateway gateway,
      Http2ConnectionDecoder decoder,
      Http2ConnectionEncoder encoder,
      Http2Settings settings,
      boolean decoupleCloseAndGoAway,
      boolean flushPreface) {
    super(encoder, decoder, settings, decoupleCloseAndGoAway, flushPreface);
    this.gateway = gateway;
  }

  /** Builds a server's codec for clients of this gateway. */
  static final class Builder extends Http2FrameCodecBuilder {

    private final Gateway gateway;

    Builder(Gateway gateway) {
      this.gateway = gateway;
      server(true);
    }

    @Override
    protected Http2FrameCodec build(
        Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
      ClientFrames codec =
          new ClientFrames(
              gateway,
              new KnownStreams(new EmptyFrames(decoder)),
              encoder,
              settings,
              decoupleCloseAndGoAway(),
              flushPreface());
      codec.gracefulShutdownTimeoutMillis(gracefulShutdownTimeoutMillis());
      return codec;
    }
  }

  @Override
  protected void handleServerHeaderDecodeSizeError(ChannelHandlerContext ctx, Http2Stream stream) {
    OpenAiError error = Framing.headersTooLong();
    gateway.pool().refused(ClientConnection.FRONTEND, error);
    ByteBuf body = Unpooled.wrappedBuffer(error.body());
    Http2Headers head =
        new DefaultHttp2Headers()
            .status(Integer.toString(error.status()))
            .set(HttpHeaderNames.CONTENT_TYPE, OpenAiError.CONTENT_TYPE)
            .set(HttpHeaderNames.CONTENT_LENGTH, Integer.toString(body.readableBytes()))
            .set(OpenAiError.REASON_HEADER, error.code())
            .set(HeaderRules.REQUEST_ID, gateway.requestId(""));
    var _ = encoder().writeHeaders(ctx, stream.id(), head, 0, false, ctx.newPromise());
    var _ = encoder().writeData(ctx, stream.id(), body, 0, true, ctx.newPromise());
    try {
      // The stream is reset as soon as this returns: what is not written by then never is.
      Http2RemoteFlowController flow = encoder().flowController();
      flow.writePendingBytes();
    } catch (Http2Exception e) {
      onError(ctx, true, e);
    }
  }
}
