package io.fairlead.epp.frontend.gateway;

import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestFacts.Delivery;
import io.fairlead.core.Route;
import io.fairlead.core.Timeouts;
import io.fairlead.core.Usage;
import io.fairlead.epp.director.Director;
import io.fairlead.epp.director.Exchange;
import io.fairlead.epp.director.Origin;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.memory.IncomingBody;
import io.fairlead.epp.openai.ContentCoding;
import io.fairlead.epp.openai.ModelRename;
import io.fairlead.epp.openai.ModelSplice;
import io.fairlead.epp.openai.OpenAiError;
import io.fairlead.epp.openai.ParsedRequest;
import io.fairlead.epp.openai.ResponseWatcher;
import io.fairlead.epp.tracing.RequestTrace;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One proxied request, from the decision where it goes to the last byte of its response. On the
 * client connection's loop, where the connections to endpoints are too.
 *
 * <p>It is at one endpoint at a time: each {@link Attempt} says how it failed, and the core what is
 * to be done about it. Once the client has a byte of an answer nothing is sent again.
 */
final class ProxyExchange implements Exchange {

  /** The core hears of a client that takes nothing for so long, and not of each full buffer. */
  private static final long HELD_UP_MILLIS = 250;

  private final ClientConnection client;
  private final BackendPool backends;
  private final HttpRequest head;
  private final HttpHeaders trailers;
  private final String requestId;
  private final ParsedRequest parsed;
  private final PoolLoop pool;
  private final Director director;

  /** Released once the request can't be sent again, and no endpoint is being sent it. */
  private final IncomingBody body;

  private @Nullable Attempt attempt;
  private @Nullable ResponseWatcher watcher;

  /** Null where the answer names the model that was asked for, or none that we could read. */
  private @Nullable ModelRename rename;

  private int status;
  private boolean over;

  /** Looks whether the client takes nothing still; null where no look is due. */
  private @Nullable Future<?> heldUpLook;

  /** Whether the core was told that the client holds its answer up. */
  private boolean heldUp;

  /**
   * A request that has been read.
   *
   * @param body read to its end; released by the exchange
   * @param trace null where nobody traces it
   */
  ProxyExchange(
      Gateway gateway,
      ClientConnection client,
      HttpRequest head,
      HttpHeaders trailers,
      String requestId,
      ParsedRequest parsed,
      IncomingBody body,
      @Nullable RequestTrace trace) {
    this.client = client;
    this.backends = client.resources().backends();
    this.head = head;
    this.trailers = HeaderRules.trailersToBackend(trailers);
    this.requestId = requestId;
    this.parsed = parsed;
    this.body = body;
    this.pool = gateway.pool();
    this.director = new Director(pool, client.channel().eventLoop(), this, trace);
  }

  /** Whether the pool takes it; its body is released where not. */
  boolean start(long seed) {
    HeaderCopy headers = new HeaderCopy(head.headers());
    Timeouts timeouts = pool.timeouts(headers);
    boolean taken =
        director.submit(
            new RequestFacts(
                HeaderRules.text(requestId),
                parsed.model(),
                seed,
                parsed.blocks(),
                parsed.prompt(),
                parsed.maxOutputTokens(),
                parsed.answers(),
                body.length(),
                new Delivery(parsed.streamed(), true),
                timeouts,
                pool.headers(headers, Origin.GATEWAY),
                null,
                null),
            head.uri(),
            () -> body.bytes().copy());
    if (!taken) {
      over = true;
      body.release();
    }
    return taken;
  }

  @Override
  public void send(Route route) {
    leave();
    Attempt next = new Attempt(this, backends, client.channel().eventLoop(), route);
    attempt = next;
    next.start();
  }

  @Override
  public void pass() {
    if (attempt != null) {
      attempt.pass();
    }
  }

  @Override
  public void reject(Rejection rejection) {
    over = true;
    leave();
    body.release();
    if (begun()) {
      client.breakOff();
    } else {
      client.answer(OpenAiError.of(rejection));
    }
  }

  /** Whether the client has any of an answer. */
  private boolean begun() {
    return watcher != null;
  }

  private void leave() {
    Attempt left = attempt;
    attempt = null;
    if (left != null) {
      left.abandon();
    }
  }

  /** What the endpoint gets; a copy that the caller owns. */
  FullHttpRequest request(Route to) {
    ByteBuf content = ModelSplice.splice(body.bytes(), parsed, to.targetModel());
    HttpHeaders headers = HeaderRules.toBackend(head.headers());
    for (Route.Header header : to.requestHeaders()) {
      headers.set(header.name(), header.value());
    }
    if (!trailers.isEmpty()) {
      headers.set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
    } else if (content.isReadable() || head.method().equals(HttpMethod.POST)) {
      headers.set(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes());
    }
    client.hop().addTo(headers);
    if (headers.get(HttpHeaderNames.HOST, "").isEmpty()) {
      // In HTTP/2 none may be empty: it could not be written, and its server looked as if it had
      // failed.
      headers.set(HttpHeaderNames.HOST, to.destination());
    }
    headers.set(HeaderRules.REQUEST_ID, requestId);
    return new DefaultFullHttpRequest(
        HttpVersion.HTTP_1_1,
        head.method(),
        Target.encoded(Target.pathAndQuery(head.uri())),
        content,
        headers,
        trailers);
  }

  /** Whether an answer's body is not to be sent. */
  boolean asksForHead() {
    return HttpMethod.HEAD.equals(head.method());
  }

  /** An error as clients of what was asked for know it. */
  byte[] bodyOf(OpenAiError error) {
    return error.body(Target.path(head.uri()));
  }

  /** The endpoint's answer has this status; whether the client gets it is not known yet. */
  void headed(int answered) {
    director.status(answered);
  }

  /**
   * The head of a good answer came, and nothing of what was asked for with it. The client gets it
   * later.
   */
  void headAlone() {
    director.head();
  }

  /** The endpoint failed before the client got anything. */
  void failed(Failure how) {
    director.attemptFailed(how);
  }

  /**
   * The client gets this answer. A long one must not hold the request's body in memory.
   *
   * @param sent whether the endpoint has all of the request
   */
  void begin(HttpResponse response, Route from, boolean sent) {
    if (sent) {
      body.release();
    }
    status = response.status().code();
    String type = response.headers().get(HttpHeaderNames.CONTENT_TYPE, "");
    String encoding = response.headers().get(HttpHeaderNames.CONTENT_ENCODING, "");
    watcher = ResponseWatcher.of(head.uri(), type, encoding);
    if (status < 300 && ContentCoding.isNone(encoding)) {
      rename = ModelRename.of(from.targetModel(), parsed.model(), type);
    }
    if (rename != null) {
      response.headers().remove(HttpHeaderNames.CONTENT_LENGTH); // another name, another length
    }
    client.startResponse(response, from.responseHeaders());
  }

  /**
   * More of the response. Takes ownership.
   *
   * @param begun whether what was asked for has begun to come
   */
  void content(HttpContent content, boolean begun) {
    if (watcher != null && content.content().isReadable()) {
      watcher.watch(content.content());
      if (begun && status < 300 && !watcher.isError()) {
        director.firstByte();
      }
    }
    director.answering();
    director.progress();
    HttpContent passed = renamed(content);
    if (watcher != null) {
      director.passed(passed.content().readableBytes(), watcher.events());
    }
    client.write(passed);
  }

  /** The same with the model's name that the client knows. */
  private HttpContent renamed(HttpContent content) {
    ModelRename renaming = rename;
    if (renaming == null) {
      return content;
    }
    ByteBuf passed = renaming.pass(content.content(), content instanceof LastHttpContent);
    return renaming.changed() ? content.replace(passed) : content;
  }

  /** The rest of the response, as {@link #content} gets it. Takes ownership. */
  void last(LastHttpContent content, boolean begun) {
    attempt = null;
    content(content, begun);
    Outcome judged = watcher == null ? Outcome.of(status, false) : watcher.outcome(status);
    if (watcher != null && watcher.isOfUnknownModel(status)) {
      director.unknownModel();
    }
    end(parsed.outcome(status, judged));
    client.responseWritten();
  }

  /** What was written goes out; whether the client can take more now. */
  boolean readyForMore() {
    boolean ready = client.flush();
    if (!ready && !heldUp && heldUpLook == null) {
      heldUpLook =
          client
              .channel()
              .eventLoop()
              .schedule(this::lookWhetherHeldUp, HELD_UP_MILLIS, TimeUnit.MILLISECONDS);
    }
    return ready;
  }

  private void lookWhetherHeldUp() {
    heldUpLook = null;
    if (!over && !client.channel().isWritable()) {
      heldUp = true;
      director.heldUp(true);
    }
  }

  void clientCanTakeMore() {
    if (heldUp) {
      heldUp = false;
      director.heldUp(false);
    }
    if (attempt != null) {
      attempt.clientCanTakeMore();
    }
  }

  /** The endpoint's answer was to be passed on, but is not there any more. */
  void cutOff(Route from) {
    leave();
    end(Outcome.FAILED);
    Rejection.Reason reason = Rejection.Reason.UPSTREAM_FAILED;
    client.answer(OpenAiError.of(new Rejection(reason, from.criticality(), reason.message())));
  }

  /** The answer ends in its middle. */
  void breakOff(Outcome how) {
    attempt = null;
    end(how);
    client.breakOff();
  }

  /** The client went away: nobody needs the response. */
  void clientGone() {
    if (!over) {
      leave();
      end(Outcome.DISCONNECTED);
    }
  }

  private void end(Outcome outcome) {
    over = true;
    body.release();
    director.end(outcome, watcher == null ? Usage.UNKNOWN : watcher.usage());
  }
}
