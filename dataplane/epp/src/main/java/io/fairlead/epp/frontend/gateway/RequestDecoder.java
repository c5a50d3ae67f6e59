package io.fairlead.epp.frontend.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ByteProcessor;
import java.util.List;

/**
 * Makes requests of a client's bytes, and tells of how many it has made nothing yet: a head may
 * begin in the same read in which what is before it ends.
 */
final class RequestDecoder extends HttpRequestDecoder {

  /** The longest piece of a body that it hands on, in bytes. */
  private static final int MAX_PIECE = 65_536;

  private final Unfinished undecoded;

  /** Whether nothing of a head has come since the last request was whole. */
  private boolean between = true;

  /** Tells {@code undecoded}, which is told elsewhere of all bytes that come. */
  RequestDecoder(Unfinished undecoded) {
    super(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(Framing.MAX_LINE)
            .setMaxHeaderSize(Framing.MAX_HEADERS)
            .setMaxChunkSize(MAX_PIECE)
            .setHeadersFactory(BoundedFields.like(DefaultHttpHeadersFactory.headersFactory()))
            .setTrailersFactory(BoundedFields.like(DefaultHttpHeadersFactory.trailersFactory())));
    this.undecoded = undecoded;
  }

  @Override
  protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
    int before = out.size();
    int from = in.readerIndex();
    super.decode(ctx, in, out);
    boolean made = out.size() > before;
    if (made) {
      between = out.getLast() instanceof LastHttpContent;
    } else if (between) {
      between = in.forEachByte(from, in.readerIndex() - from, ByteProcessor.FIND_NON_CRLF) < 0;
    }
    if (between) {
      undecoded.isOnly(behindLineEnds(in));
    } else if (made) {
      undecoded.isOnly(in.readableBytes());
    }
  }

  /** Empty lines between requests begin none (RFC 9112, 2.2). */
  private static int behindLineEnds(ByteBuf in) {
    int first = in.forEachByte(ByteProcessor.FIND_NON_CRLF);
    return first < 0 ? 0 : in.writerIndex() - first;
  }

  @Override
  protected void decodeLast(ChannelHandlerContext ctx, ByteBuf in, List<Object> out)
      throws Exception {
    super.decodeLast(ctx, in, out);
    undecoded.whole(); // the client is gone: nothing more is made of it
  }
}
