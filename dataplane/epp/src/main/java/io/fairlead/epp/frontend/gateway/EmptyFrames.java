package io.fairlead.epp.frontend.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.DecoratingHttp2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameListenerDecorator;

/**
 * Passes over DATA frames that hold nothing and end nothing. Who flushes what has no bytes sends
 * them, for each of its streams. No window bounds how many of them wait for a stream to be read:
 * none may.
 */
final class EmptyFrames extends DecoratingHttp2ConnectionDecoder {

  /**
   * So many of a connection one after the other are no flushes any more. The codec itself ends a
   * connection over the third, with all that is on it.
   */
  static final int MOST = 10_000;

  EmptyFrames(Http2ConnectionDecoder decoder) {
    super(decoder);
  }

  @Override
  public void frameListener(Http2FrameListener listener) {
    super.frameListener(new Rest(listener));
  }

  /** Is told of all others. */
  private static final class Rest extends Http2FrameListenerDecorator {

    Rest(Http2FrameListener listener) {
      super(listener);
    }

    @Override
    public int onDataRead(
        ChannelHandlerContext ctx, int streamId, ByteBuf data, int padding, boolean endOfStream)
        throws Http2Exception {
      return data.isReadable() || endOfStream
          ? super.onDataRead(ctx, streamId, data, padding, endOfStream)
          : padding;
    }
  }
}
