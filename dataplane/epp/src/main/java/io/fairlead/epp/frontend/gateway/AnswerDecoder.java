package io.fairlead.epp.frontend.gateway;

import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseDecoder;

/**
 * Reads an endpoint's answers of HTTP/1.1, one to each request, and knows what is left after one.
 */
final class AnswerDecoder extends HttpResponseDecoder {

  private boolean toHead;

  /**
   * A chunk comes out of it whole, up to 64 KiB: servers send an event of a stream in a chunk, and
   * there are clients that take what they read for an event.
   */
  AnswerDecoder() {
    super(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(4096)
            .setMaxHeaderSize(65_536)
            .setMaxChunkSize(65_536)
            .setAllowPartialChunks(false));
  }

  /** The next answer is to a request of this method. */
  void expect(HttpMethod method) {
    toHead = method.equals(HttpMethod.HEAD);
  }

  /** Whether bytes are here that are no part of what was told so far. */
  boolean holdsMore() {
    return actualReadableBytes() > 0;
  }

  @Override
  protected boolean isContentAlwaysEmpty(HttpMessage message) {
    return toHead || super.isContentAlwaysEmpty(message);
  }
}
