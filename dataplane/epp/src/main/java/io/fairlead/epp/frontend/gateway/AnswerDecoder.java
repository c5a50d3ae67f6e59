package io.fairlead.epp.frontend.gateway;

import io.fairlead.epp.transport.Transport;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.util.AsciiString;

/**
 * Reads an endpoint's answers of HTTP/1.1, one to each request, and knows what is left after one.
 */
final class AnswerDecoder extends HttpResponseDecoder {

  private boolean toHead;

  /**
   * A chunk comes out of it whole, up to 64 KiB: servers send an event of a stream in a chunk, and
   * there are clients that take what they read for an event. Lines of a head may end with line
   * feeds alone, as in {@link Transport#answers}.
   */
  AnswerDecoder() {
    super(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(4096)
            .setMaxHeaderSize(65_536)
            .setMaxChunkSize(65_536)
            .setStrictLineParsing(false)
            .setAllowPartialChunks(false));
    setCumulator(AnswerDecoder::join);
  }

  /**
   * What is left of former reads, and another one. Netty's own lets what was read already stay
   * where it is while pieces of it are in use, as they are until the client is written to: then the
   * buffer grows with the answer.
   */
  private static ByteBuf join(ByteBufAllocator buffers, ByteBuf left, ByteBuf more) {
    if (!left.isReadable() && more.isContiguous()) {
      left.release();
      return more;
    }
    ByteBuf joined = left;
    try {
      if (more.readableBytes() > left.writableBytes() || left.isReadOnly()) {
        int length = left.readableBytes() + more.readableBytes();
        joined = buffers.buffer(buffers.calculateNewCapacity(length, Integer.MAX_VALUE));
        joined.writeBytes(left);
        left.release();
      }
      return joined.writeBytes(more);
    } finally {
      more.release();
    }
  }

  /** The next answer is to a request of this method. */
  void expect(HttpMethod method) {
    toHead = method.equals(HttpMethod.HEAD);
  }

  /** Whether bytes are here that are no part of what was told so far. */
  boolean holdsMore() {
    return actualReadableBytes() > 0;
  }

  /**
   * Spaces may stand between a name and its colon, and nothing else may: the codec ends a name at
   * the first of them, and {@code content-length x: 1} would be one of another name.
   */
  @Override
  protected AsciiString splitHeaderName(byte[] line, int start, int length) {
    int end = start + length;
    while (end < line.length && (line[end] == ' ' || line[end] == '\t')) {
      end++;
    }
    if (end == line.length || line[end] != ':') {
      throw new IllegalArgumentException("a header without a name");
    }
    return super.splitHeaderName(line, start, length);
  }

  @Override
  protected boolean isContentAlwaysEmpty(HttpMessage message) {
    return toHead || super.isContentAlwaysEmpty(message);
  }
}
