package io.fairlead.epp.frontend.extproc;

import io.fairlead.core.PromptSize;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestFacts.Delivery;
import io.fairlead.core.Subset;
import io.fairlead.epp.director.Origin;
import io.fairlead.epp.director.ReceivedHeaders;
import io.fairlead.epp.openai.ParsedRequest;
import org.jspecify.annotations.Nullable;

/**
 * What a proxy tells of a request before its body. Never changes, so that any loop may read it.
 *
 * @param headers as the proxy sent them
 * @param subset endpoints that the gateway allows, or null for all
 */
record RequestHead(WireHeaders headers, @Nullable Subset subset) implements ReceivedHeaders {

  private static final String REQUEST_ID = "x-request-id";
  private static final long[] NO_BLOCKS = {};

  static RequestHead of(ProxyMessage message) {
    return new RequestHead(
        message.headers(), GatewayMetadata.subset(message.rest().getMetadataContext()));
  }

  @Override
  public @Nullable String first(String name) {
    return headers.first(name);
  }

  @Override
  public boolean contradicts(String name) {
    return headers.contradicts(name);
  }

  /** First value of a header, or "". */
  String value(String name) {
    return headers.value(name);
  }

  /** The body's length in bytes, or -1 where it isn't told. */
  long contentLength() {
    return headers.number("content-length");
  }

  /** A request that shows no body. */
  RequestFacts facts(StreamContext context) {
    return new RequestFacts(
        value(REQUEST_ID),
        "",
        context.seeds().getAsLong(),
        NO_BLOCKS,
        PromptSize.NONE,
        -1,
        0,
        new Delivery(false, false),
        context.pool().timeouts(this),
        context.pool().headers(this, Origin.EXT_PROC),
        subset);
  }

  /** A request whose body of so many bytes was read. */
  RequestFacts facts(StreamContext context, ParsedRequest read, int bodyBytes) {
    return new RequestFacts(
        value(REQUEST_ID),
        read.model(),
        context.seeds().getAsLong(),
        read.blocks(),
        read.prompt(),
        read.maxOutputTokens(),
        read.answers(),
        bodyBytes,
        new Delivery(read.streamed(), false),
        context.pool().timeouts(this),
        context.pool().headers(this, Origin.EXT_PROC),
        subset,
        null);
  }
}
