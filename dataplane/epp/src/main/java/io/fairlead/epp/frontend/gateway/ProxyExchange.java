package io.fairlead.epp.frontend.gateway;

import io.fairlead.core.Outcome;
import io.fairlead.core.PromptSize;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestFacts.Delivery;
import io.fairlead.core.Route;
import io.fairlead.core.Timeouts;
import io.fairlead.core.Usage;
import io.fairlead.epp.director.Director;
import io.fairlead.epp.director.Exchange;
import io.fairlead.epp.openai.ModelSplice;
import io.fairlead.epp.openai.OpenAiError;
import io.fairlead.epp.openai.ParsedRequest;
import io.fairlead.epp.openai.ResponseWatcher;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One proxied request, from the decision where it goes to the last byte of its response. On the
 * client connection's loop, where the connections to endpoints are too.
 *
 * <p>An endpoint that breaks before the first byte of its response is a failed attempt: the core
 * names the next one, or gives up. A reused connection that breaks then says nothing about the
 * endpoint, which may have closed it while idle: the same endpoint is tried again on a new one.
 * Only the first attempt reuses connections, so a request is sent once more than the core says at
 * most. After a first byte nothing is sent again: the endpoint may have done the work.
 */
final class ProxyExchange implements Exchange {

  private static final byte[] NOTHING = {};

  private final ClientConnection client;
  private final BackendPool backends;
  private final HttpRequest head;
  private final String requestId;
  private final @Nullable ParsedRequest parsed;
  private final int length;
  private final Director director;

  /** Empty once the request can't be sent again. */
  private byte[] body;

  private @Nullable Route route;
  private @Nullable BackendConnection backend;
  private @Nullable ResponseWatcher watcher;
  private int status;
  private boolean over;

  /**
   * A request that has been read.
   *
   * @param parsed null for a call without a body
   * @param body must not change any more
   */
  ProxyExchange(
      Gateway gateway,
      ClientConnection client,
      HttpRequest head,
      String requestId,
      @Nullable ParsedRequest parsed,
      byte[] body,
      int length) {
    this.client = client;
    this.backends = client.resources().backends();
    this.head = head;
    this.requestId = requestId;
    this.parsed = parsed;
    this.body = body;
    this.length = length;
    this.director = new Director(gateway.pool(), client.channel().eventLoop(), this);
  }

  void start(long seed) {
    HeaderCopy headers = new HeaderCopy(head.headers());
    director.submit(
        parsed == null
            ? new RequestFacts(
                "",
                seed,
                new long[0],
                PromptSize.NONE,
                -1,
                0,
                new Delivery(false, true),
                Timeouts.UNSET,
                headers,
                null)
            : new RequestFacts(
                parsed.model(),
                seed,
                parsed.blocks(),
                parsed.prompt(),
                parsed.maxOutputTokens(),
                length,
                new Delivery(parsed.streamed(), true),
                Timeouts.UNSET,
                headers,
                null));
  }

  @Override
  public void send(Route next) {
    route = next;
    backends.open(new InetSocketAddress(next.address(), next.port()), next.attempt() == 1, this);
  }

  @Override
  public void reject(Rejection rejection) {
    over = true;
    client.answer(OpenAiError.of(rejection));
  }

  void opened(BackendConnection connection) {
    if (over || route == null) {
      connection.giveBack();
      return;
    }
    backend = connection;
    connection.send(request(route), this);
  }

  void openFailed() {
    if (!over) {
      director.attemptFailed();
    }
  }

  private FullHttpRequest request(Route to) {
    ByteBuf content =
        parsed == null
            ? Unpooled.EMPTY_BUFFER
            : ModelSplice.splice(body, 0, length, parsed, to.targetModel());
    HttpHeaders headers = HeaderRules.toBackend(head.headers());
    for (Route.Header header : to.requestHeaders()) {
      headers.set(header.name(), header.value());
    }
    if (head.method().equals(HttpMethod.POST)) {
      headers.set(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes());
    }
    if (!headers.contains(HttpHeaderNames.HOST)) {
      headers.set(HttpHeaderNames.HOST, to.destination());
    }
    headers.set(HeaderRules.REQUEST_ID, requestId);
    return new DefaultFullHttpRequest(
        HttpVersion.HTTP_1_1,
        head.method(),
        Target.pathAndQuery(head.uri()),
        content,
        headers,
        EmptyHttpHeaders.INSTANCE);
  }

  /** The response has begun. A long one must not hold the request's body in memory. */
  void head(HttpResponse response) {
    body = NOTHING;
    status = response.status().code();
    watcher = new ResponseWatcher(response.headers().get(HttpHeaderNames.CONTENT_TYPE, ""));
    Route from = route;
    client.startResponse(
        response,
        from == null ? "" : from.endpoint(),
        from == null ? List.of() : from.responseHeaders());
  }

  /** More of the response. Takes ownership. */
  void content(HttpContent content) {
    if (watcher != null && content.content().isReadable()) {
      if (parsed != null && status < 400) {
        director.firstToken();
      }
      watcher.watch(content.content());
    }
    client.write(content);
  }

  /** The rest of the response. Takes ownership. */
  void last(LastHttpContent content) {
    backend = null;
    content(content);
    end(status >= 500 ? Outcome.FAILED : Outcome.COMPLETED);
    client.responseWritten();
  }

  /** What was written goes out; whether the client can take more now. */
  boolean readyForMore() {
    return client.flush();
  }

  void clientCanTakeMore() {
    if (backend != null) {
      backend.read();
    }
  }

  /** The endpoint's connection is gone before the end of its response. */
  void broken(BackendConnection.Break how) {
    backend = null;
    if (over || route == null) {
      return;
    }
    switch (how) {
      case STALE ->
          backends.open(new InetSocketAddress(route.address(), route.port()), false, this);
      case UNANSWERED -> director.attemptFailed();
      case IN_HEAD -> {
        end(Outcome.FAILED);
        client.answer(OpenAiError.of(failed(route)));
      }
      case IN_BODY -> {
        end(Outcome.FAILED);
        client.breakOff();
      }
    }
  }

  private static Rejection failed(Route route) {
    Rejection.Reason reason = Rejection.Reason.UPSTREAM_FAILED;
    return new Rejection(reason, route.criticality(), reason.message());
  }

  /** The client went away: nobody needs the response. */
  void clientGone() {
    if (over) {
      return;
    }
    BackendConnection current = backend;
    backend = null;
    if (current != null) {
      current.abandon();
    }
    end(Outcome.DISCONNECTED);
  }

  private void end(Outcome outcome) {
    over = true;
    director.end(outcome, watcher == null ? Usage.UNKNOWN : watcher.usage());
  }
}
