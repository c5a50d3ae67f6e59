package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProtocolConfiguration;
import io.fairlead.core.Outcome;
import io.fairlead.core.PromptSize;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestFacts.Delivery;
import io.fairlead.core.RequestHeaders;
import io.fairlead.core.Route;
import io.fairlead.core.Subset;
import io.fairlead.core.Usage;
import io.fairlead.epp.director.Director;
import io.fairlead.epp.director.Exchange;
import io.fairlead.epp.memory.IncomingBody;
import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.ErrorCodes;
import io.fairlead.epp.openai.JsonMediaType;
import io.fairlead.epp.openai.ModelSplice;
import io.fairlead.epp.openai.OpenAiError;
import io.fairlead.epp.openai.ParsedRequest;
import io.fairlead.epp.openai.ResponseWatcher;
import io.fairlead.epp.transport.Failures;
import io.grpc.Status;
import io.grpc.stub.CallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One HTTP request as a proxy tells it, in full duplex.
 *
 * <p>The answer to the request's headers is held until the body is whole and the pool has decided;
 * then come the headers' answer, the body in slices, the trailers' answer. The response passes
 * through at once, message by message. Everything runs on the connection's loop, which is also the
 * director's home. Memory: one request body, at most the configured limit; of a response only what
 * the proxy has not taken yet, and while it takes nothing, nothing more is asked of it.
 */
final class ExtProcStream
    implements StreamObserver<ProcessingRequest>, Exchange, IncomingBody.Owner {

  private static final Logger log = LoggerFactory.getLogger(ExtProcStream.class);

  private static final String FRONTEND = "ext_proc";

  /**
   * So long nothing must have come before a stream is left. A proxy in full duplex does not keep
   * what it has sent, so a message that crosses the end of the stream is lost to the client. Tokens
   * come in bursts with a pause after each: this is longer than a burst and a round trip to the
   * proxy, and shorter than the pauses.
   */
  private static final long QUIET = TimeUnit.MILLISECONDS.toNanos(3);

  /** A look that comes later than this says nothing: messages may be here and not read. */
  private static final long LATE = TimeUnit.MILLISECONDS.toNanos(10);

  /** How far the request is. */
  private enum Request {
    NOTHING,
    READING,
    DECIDING,
    SENDING,
    SENT
  }

  /** How far the response is. */
  private enum Response {
    NOTHING,
    /** Its headers are held: it is a failure, and the core says whether the client gets it. */
    JUDGED,
    PASSING,
    OVER
  }

  private final StreamContext context;
  private final CallStreamObserver<ProcessingResponse> proxy;
  private final EventExecutor loop;

  private Request request = Request.NOTHING;
  private Response response = Response.NOTHING;
  private boolean over;
  private boolean wanting;

  private String path = "";
  private HeaderMap clients = HeaderMap.getDefaultInstance();
  private @Nullable Subset subset;
  private List<Route.Header> added = List.of();
  private boolean lengthDeclared;
  private boolean trailers;
  private @Nullable IncomingBody incoming;

  /** Whether there is no room for more of the body: nothing is asked of the proxy. */
  private boolean heldBack;

  private long pieceCameAt;
  private @Nullable Future<?> patience;
  private @Nullable IncomingBody body;
  private @Nullable ParsedRequest parsed;
  private @Nullable RequestBody outgoing;

  private @Nullable Director director;
  private @Nullable ResponseWatcher watcher;
  private int status;

  /** Whether the response has no body. */
  private boolean headersAreAll;

  /** Whether the proxy is to go on alone as soon as it can. */
  private boolean leaving;

  private long messageCameAt;
  private @Nullable Future<?> quiet;
  private long lookAt;

  ExtProcStream(
      StreamContext context, CallStreamObserver<ProcessingResponse> proxy, EventExecutor loop) {
    this.context = context;
    this.proxy = proxy;
    this.loop = loop;
    context.counters().streamOpened();
  }

  @Override
  public void onNext(ProcessingRequest message) {
    if (over) {
      return;
    }
    try {
      take(message);
    } catch (RuntimeException e) {
      log.error("ext_proc stream ended by an error of ours", e);
      context.counters().failure();
      end(Outcome.DISCONNECTED, Status.INTERNAL.withDescription("the endpoint picker failed"));
    }
    wanting = true;
    if (leaving) {
      messageCameAt = loop.ticker().nanoTime();
    }
    advance();
  }

  /** The proxy takes messages (again). */
  void onReady() {
    advance();
  }

  /** Runs there what is to be done with the stream. */
  void onLoop(Consumer<ExtProcStream> what) {
    try {
      loop.execute(() -> what.accept(this));
    } catch (RejectedExecutionException e) {
      log.debug("the stream's loop has ended, and the stream with it", e);
    }
  }

  /**
   * Ends the stream as soon as the proxy can go on without it: the request is sent, all of the
   * response that came is passed on, and for a moment no more came.
   */
  void leave() {
    leaving = true;
    messageCameAt = loop.ticker().nanoTime();
    awaitQuiet(QUIET);
  }

  private void awaitQuiet(long nanos) {
    if (leaving && quiet == null && canBeLeft()) {
      quiet = loop.schedule(this::lookForQuiet, nanos, TimeUnit.NANOSECONDS);
      lookAt = loop.ticker().nanoTime() + nanos;
    }
  }

  private void lookForQuiet() {
    quiet = null;
    if (!canBeLeft()) {
      return;
    }
    long now = loop.ticker().nanoTime();
    long silent = now - messageCameAt;
    if (now - lookAt > LATE) {
      awaitQuiet(QUIET);
    } else if (silent < QUIET) {
      awaitQuiet(QUIET - silent);
    } else {
      goOnAlone();
    }
  }

  /** The proxy takes the request from here, with whatever comes of it. */
  private void goOnAlone() {
    Director leaving = director;
    director = null;
    if (leaving != null) {
      leaving.left();
    }
    end(Outcome.DISCONNECTED, Status.OK);
  }

  /** Whether nothing is missing but the rest of the response. */
  private boolean canBeLeft() {
    return !over
        && !wanting
        && request == Request.SENT
        && (response == Response.NOTHING || response == Response.PASSING);
  }

  /** Ends the stream now, quiet or not; a request that is not sent is refused. */
  void endNow() {
    if (over) {
      return;
    }
    if (response == Response.NOTHING
        && (request == Request.READING || request == Request.DECIDING)) {
      refuse(
          new BadRequestException(
              503, ErrorCodes.SHUTTING_DOWN, "The endpoint picker is shutting down. Try again."));
    } else if (canBeLeft()) {
      goOnAlone();
    } else {
      end(Outcome.DISCONNECTED, Status.UNAVAILABLE);
    }
  }

  /** The proxy is gone: its usual way to end a stream, or because its client went away. */
  void onCancel() {
    close(Outcome.DISCONNECTED);
  }

  @Override
  public void onError(Throwable cause) {
    onCancel();
  }

  @Override
  public void onCompleted() {
    if (!over) {
      end(Outcome.DISCONNECTED, Status.OK);
    }
  }

  private void take(ProcessingRequest message) {
    if (request == Request.NOTHING && !served(message)) {
      return;
    }
    switch (message.getRequestCase()) {
      case REQUEST_HEADERS -> requestHeaders(message);
      case REQUEST_BODY -> requestBody(message.getRequestBody());
      case REQUEST_TRAILERS -> requestTrailers();
      case RESPONSE_HEADERS -> responseHeaders(message.getResponseHeaders());
      case RESPONSE_BODY -> responseBody(message.getResponseBody());
      case RESPONSE_TRAILERS -> responseTrailers();
      case REQUEST_NOT_SET -> unexpected("a message without content");
    }
  }

  /** Only full duplex is served; what else the proxy is set up for is told to it. */
  private boolean served(ProcessingRequest first) {
    String wrong = "";
    if (first.getObservabilityMode()) {
      wrong = "observability_mode: true is not served; set it to false";
    } else if (first.hasProtocolConfig()) {
      ProtocolConfiguration modes = first.getProtocolConfig();
      if (modes.getRequestBodyMode() != BodySendMode.FULL_DUPLEX_STREAMED) {
        wrong = mode("request_body_mode", modes.getRequestBodyMode());
      } else if (modes.getResponseBodyMode() != BodySendMode.FULL_DUPLEX_STREAMED) {
        wrong = mode("response_body_mode", modes.getResponseBodyMode());
      }
    }
    if (!wrong.isEmpty()) {
      context.counters().protocolError();
      end(Outcome.DISCONNECTED, Status.FAILED_PRECONDITION.withDescription(wrong));
    }
    return !over;
  }

  private static String mode(String field, BodySendMode mode) {
    return "protocol_config.%s: %s is not served; set processing_mode.%s to FULL_DUPLEX_STREAMED"
        .formatted(field, mode, field);
  }

  private void requestHeaders(ProcessingRequest message) {
    if (request != Request.NOTHING) {
      unexpected("request_headers");
      return;
    }
    HttpHeaders headers = message.getRequestHeaders();
    clients = headers.getHeaders();
    subset = SubsetHint.of(message.getMetadataContext());
    path = Headers.value(headers.getHeaders(), ":path");
    if (headers.getEndOfStream()) {
      RequestHeaders own = headers();
      submit(
          new RequestFacts(
              "",
              context.seeds().getAsLong(),
              new long[0],
              PromptSize.NONE,
              -1,
              0,
              new Delivery(false, false),
              context.pool().timeouts(own),
              own,
              subset));
      return;
    }
    long length = Headers.number(headers.getHeaders(), "content-length");
    lengthDeclared = length >= 0;
    if (length > context.maxBodyBytes()) {
      refuse(tooLarge());
      return;
    }
    try {
      JsonMediaType.require(
          Headers.value(headers.getHeaders(), "content-type"),
          Headers.value(headers.getHeaders(), "content-encoding"));
    } catch (BadRequestException e) {
      refuse(e);
      return;
    }
    IncomingBody opened =
        new IncomingBody(context.bodies(), loop, length, context.maxBodyBytes(), this);
    try {
      heldBack = opened.open() == IncomingBody.Room.AWAITED;
    } catch (BadRequestException e) {
      refuse(e);
      return;
    }
    incoming = opened;
    request = Request.READING;
    pieceCameAt = loop.ticker().nanoTime();
    waitForMore(context.bodyTimeout());
  }

  @Override
  public void roomMade() {
    heldBack = false;
    pieceCameAt = loop.ticker().nanoTime();
    advance();
  }

  @Override
  public void roomRefused(BadRequestException why) {
    refuse(why);
  }

  private void waitForMore(long nanos) {
    patience = loop.schedule(this::stillComing, nanos, TimeUnit.NANOSECONDS);
  }

  /** Looks at the clock once in a while, so that a piece costs no new timer. */
  private void stillComing() {
    if (over || incoming == null || answeredByProxy()) {
      return;
    }
    long left = pieceCameAt + context.bodyTimeout() - loop.ticker().nanoTime();
    if (heldBack) {
      waitForMore(context.bodyTimeout()); // it is not the proxy that is waited for
    } else if (left > 0) {
      waitForMore(left);
    } else {
      refuse(
          new BadRequestException(
              408, ErrorCodes.REQUEST_TIMEOUT, "The request's body stopped coming."));
    }
  }

  private void bodyDone() {
    incoming = null;
    if (patience != null) {
      patience.cancel(false);
      patience = null;
    }
  }

  private void requestBody(HttpBody message) {
    if (answeredByProxy()) {
      return;
    }
    IncomingBody buffer = incoming;
    pieceCameAt = loop.ticker().nanoTime();
    if (request != Request.READING || buffer == null) {
      unexpected("request_body");
    } else if (!buffer.allows(message.getBody().size())) {
      refuse(tooLarge());
    } else {
      add(buffer, message.getBody(), message.getEndOfStream());
    }
  }

  private void add(IncomingBody buffer, ByteString piece, boolean last) {
    try {
      heldBack = buffer.add(piece, last) == IncomingBody.Room.AWAITED;
    } catch (BadRequestException e) {
      refuse(e);
      return;
    }
    if (last) {
      read(buffer);
    }
  }

  private void requestTrailers() {
    if (answeredByProxy()) {
      return;
    }
    IncomingBody buffer = incoming;
    if (request != Request.READING || buffer == null) {
      unexpected("request_trailers");
    } else {
      trailers = true;
      read(buffer);
    }
  }

  /** The proxy answered the client itself before the request was sent; the rest is of no use. */
  private boolean answeredByProxy() {
    return response != Response.NOTHING && request == Request.READING;
  }

  private void read(IncomingBody buffer) {
    body = buffer;
    bodyDone();
    try {
      ParsedRequest read = context.reader().read(path, buffer.bytes(), 0, buffer.length());
      parsed = read;
      RequestHeaders own = headers();
      submit(
          new RequestFacts(
              read.model(),
              context.seeds().getAsLong(),
              read.blocks(),
              read.prompt(),
              read.maxOutputTokens(),
              buffer.length(),
              new Delivery(read.streamed(), false),
              context.pool().timeouts(own),
              own,
              subset));
    } catch (BadRequestException e) {
      refuse(e);
    }
  }

  /** A message never changes, so any loop may read it. */
  private RequestHeaders headers() {
    HeaderMap map = clients;
    return name -> Headers.first(map, name);
  }

  private void submit(RequestFacts facts) {
    request = Request.DECIDING;
    Director submitted = new Director(context.pool(), loop, this);
    director = submitted;
    submitted.submit(facts);
  }

  @Override
  public void send(Route route) {
    ParsedRequest read = parsed;
    HeaderMap from = clients;
    clients = HeaderMap.getDefaultInstance();
    added = route.responseHeaders();
    IncomingBody whole = body;
    if (read == null || whole == null) {
      proxy.onNext(Answers.destination(route, -1, from));
      requestSent();
      return;
    }
    RequestBody out =
        new RequestBody(
            ModelSplice.splice(whole.bytes(), 0, whole.length(), read, route.targetModel()));
    boolean changed = lengthDeclared && out.size() != whole.length();
    proxy.onNext(Answers.destination(route, changed ? out.size() : -1, from));
    outgoing = out;
    request = Request.SENDING;
    advance();
  }

  /**
   * The response that is held goes on its way. While it was held, no more was asked of the proxy.
   */
  @Override
  public void pass() {
    if (response == Response.JUDGED) {
      passHeaders();
      advance();
    }
  }

  /**
   * Also what ends a response that has begun: the proxy can't answer any more then, and resets.
   * Ending the stream in an error would do the same, but not where the proxy is told to go on
   * without a picker that fails.
   */
  @Override
  public void reject(Rejection rejection) {
    director = null;
    answer(Refusals.of(rejection));
  }

  private void refuse(BadRequestException problem) {
    context.pool().refused(FRONTEND, OpenAiError.of(problem));
    answer(Refusals.of(problem));
  }

  private BadRequestException tooLarge() {
    return new BadRequestException(
        413,
        ErrorCodes.BODY_TOO_LARGE,
        "The request body is longer than " + context.maxBodyBytes() + " bytes.");
  }

  private void answer(ProcessingResponse instead) {
    proxy.onNext(instead);
    end(Outcome.DISCONNECTED, Status.OK);
  }

  private void responseHeaders(HttpHeaders headers) {
    if (request == Request.NOTHING || response != Response.NOTHING) {
      unexpected("response_headers");
      return;
    }
    if (request == Request.READING || request == Request.DECIDING) {
      finish(Outcome.DISCONNECTED);
      if (incoming != null) {
        incoming.release();
        bodyDone();
      }
    }
    status = (int) Headers.number(headers.getHeaders(), ":status");
    watcher = new ResponseWatcher(Headers.value(headers.getHeaders(), "content-type"));
    headersAreAll = headers.getEndOfStream();
    if (director != null && status >= 500) {
      response = Response.JUDGED;
      director.attemptFailed(Failures.ofStatus(status, headersAreAll));
    } else {
      passHeaders();
    }
  }

  private void passHeaders() {
    response = Response.PASSING;
    if (director != null) {
      director.answering();
    }
    proxy.onNext(Answers.responseHeaders(added));
    if (headersAreAll) {
      delivered();
    }
  }

  private void responseBody(HttpBody message) {
    ResponseWatcher watching = watcher;
    if (response != Response.PASSING || watching == null) {
      unexpected("response_body");
      return;
    }
    ByteString bytes = message.getBody();
    if (!bytes.isEmpty()) {
      if (director != null && status < 400) {
        director.firstByte();
      }
      if (director != null) {
        director.progress();
      }
      watching.watch(Unpooled.wrappedBuffer(bytes.asReadOnlyByteBuffer()));
    }
    int from = 0;
    do {
      int to = Math.min(bytes.size(), from + RequestBody.SLICE);
      boolean last = to == bytes.size() && message.getEndOfStream();
      proxy.onNext(Answers.responseBody(bytes.substring(from, to), last));
      from = to;
    } while (from < bytes.size());
    if (message.getEndOfStream()) {
      delivered();
    }
  }

  private void responseTrailers() {
    if (response != Response.PASSING) {
      unexpected("response_trailers");
      return;
    }
    proxy.onNext(Answers.RESPONSE_TRAILERS);
    delivered();
  }

  private void delivered() {
    response = Response.OVER;
    end(status >= 500 ? Outcome.FAILED : Outcome.COMPLETED, Status.OK);
  }

  private void requestSent() {
    request = Request.SENT;
    outgoing = null;
    if (context.leaveAfterPick() && response == Response.NOTHING) {
      // At once: no answer can have come before its request was whole.
      goOnAlone();
    }
  }

  /** Sends what the proxy takes, and asks for more while it takes what it gets. */
  private void advance() {
    RequestBody out = outgoing;
    while (out != null && !over && proxy.isReady()) {
      ByteString slice = out.next();
      proxy.onNext(Answers.requestBody(slice, out.over() && !trailers));
      if (out.over()) {
        if (trailers) {
          proxy.onNext(Answers.REQUEST_TRAILERS);
        }
        requestSent();
        out = null;
        releaseBody();
      }
    }
    if (wanting && !over && !heldBack && response != Response.JUDGED && proxy.isReady()) {
      wanting = false;
      proxy.request(1);
    }
    awaitQuiet(QUIET);
  }

  private void unexpected(String what) {
    context.counters().protocolError();
    end(
        Outcome.DISCONNECTED,
        Status.INVALID_ARGUMENT.withDescription(
            "%s came out of order: the request is %s, the response %s"
                .formatted(what, request, response)));
  }

  private void end(Outcome outcome, Status status) {
    if (over) {
      return;
    }
    close(outcome);
    if (status.isOk()) {
      proxy.onCompleted();
    } else {
      proxy.onError(status.asRuntimeException());
    }
  }

  private void close(Outcome outcome) {
    if (!over) {
      over = true;
      outgoing = null;
      if (incoming != null) {
        incoming.release();
      }
      bodyDone();
      releaseBody();
      if (quiet != null) {
        quiet.cancel(false);
        quiet = null;
      }
      finish(outcome);
      context.streams().closed(this);
      context.counters().streamClosed();
    }
  }

  private void releaseBody() {
    if (body != null) {
      body.release();
      body = null;
    }
  }

  /** Tells the director, once. */
  private void finish(Outcome outcome) {
    Director ended = director;
    director = null;
    if (ended != null) {
      ended.end(outcome, watcher == null ? Usage.UNKNOWN : watcher.usage());
    }
  }
}
