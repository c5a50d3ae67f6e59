package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest.RequestCase;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.fairlead.core.Outcome;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.epp.frontend.extproc.Destinations.Destination;
import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.ErrorCodes;
import io.fairlead.epp.openai.OpenAiError;
import io.fairlead.epp.tracing.RequestTrace;
import io.fairlead.epp.tracing.Tracing;
import io.grpc.Status;
import io.grpc.stub.CallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One HTTP request, as a proxy shows it in one stream of {@code ext_proc}.
 *
 * <p>The request and the response have phases of their own, since a response may begin before its
 * request is sent. The phases take the messages; this class has what they share: the end that the
 * proxy announces, the end that the core announces, and that each happens once. {@link Mode} says
 * how the proxy wants its answers. Everything runs on the connection's loop, which is also the
 * director's home.
 */
final class ExtProcStream implements StreamObserver<ProxyMessage> {

  private static final Logger log = LoggerFactory.getLogger(ExtProcStream.class);

  private static final String FRONTEND = "ext_proc";

  private final StreamContext context;
  private final CallStreamObserver<ProcessingResponse> proxy;
  private final EventExecutor loop;
  private final Patience patience;
  private final PoolRequest atPool = new PoolRequest(this);

  /** What is charged of the request's head. */
  private long headBytes;

  private Mode mode = Mode.FULL_DUPLEX;
  private String path = "";

  /** Null where nobody traces the request. */
  private @Nullable RequestTrace trace;

  private RequestPhase request = Opened.PHASE;
  private ResponsePhase response = ResponseAwaited.PHASE;

  /** Whether the proxy's last message is dealt with: the next one is to be asked for. */
  private boolean wanting;

  /** Set while the proxy is to go on alone as soon as it can. */
  private @Nullable Leaving leaving;

  ExtProcStream(
      StreamContext context, CallStreamObserver<ProcessingResponse> proxy, EventExecutor loop) {
    this.context = context;
    this.proxy = proxy;
    this.loop = loop;
    patience = new Patience(this, loop, context.bodyTimeout());
    patience.begin(1);
    context.counters().streamOpened();
  }

  @Override
  public void onNext(ProxyMessage message) {
    if (isOver()) {
      return;
    }
    patience.somethingCame();
    try {
      take(message);
    } catch (RuntimeException e) {
      failed(e);
    }
    wanting = true;
    if (leaving != null) {
      leaving.messageCame();
    }
    advance();
  }

  private void take(ProxyMessage message) {
    if (request instanceof Opened) {
      path = message.headers().value(":path");
      Tracing tracing = context.tracing();
      if (tracing != null && message.content() == RequestCase.REQUEST_HEADERS) {
        trace = tracing.begin(FRONTEND, message.headers()::first);
      }
      if (!agree(message.rest()) || !takeHead(message.headers())) {
        return;
      }
    }
    switch (message.content()) {
      case REQUEST_HEADERS -> request.headers(this, message);
      case REQUEST_BODY -> request.body(this, message.rest().getRequestBody());
      case REQUEST_TRAILERS -> request.trailers(this);
      case RESPONSE_HEADERS -> response.headers(this, message);
      case RESPONSE_BODY -> response.body(this, message.rest().getResponseBody());
      case RESPONSE_TRAILERS -> response.trailers(this);
      case REQUEST_NOT_SET -> unexpected("a message without content");
    }
  }

  private boolean agree(ProcessingRequest first) {
    if (first.getObservabilityMode()) {
      context.counters().protocolError();
      end(
          Outcome.DISCONNECTED,
          Status.FAILED_PRECONDITION.withDescription(
              "observability_mode: true is not served; set it to false"));
      return false;
    }
    try {
      mode = Mode.of(first);
      return true;
    } catch (BadRequestException e) {
      context.counters().protocolError();
      refuse(e);
      return false;
    }
  }

  private boolean takeHead(WireHeaders headers) {
    long bytes = headers.memory();
    try {
      context.bodies().takeHead(bytes);
      headBytes = bytes;
      return true;
    } catch (BadRequestException e) {
      refuse(e);
      return false;
    }
  }

  /** An error of ours: the client hears of it while it can be told. */
  private void failed(RuntimeException cause) {
    context.counters().failure();
    long failures = context.counters().failures();
    if (Long.bitCount(failures) == 1) {
      log.error("ext_proc streams ended by an error of ours, {} so far", failures, cause);
    }
    if (!isOver() && !(response instanceof PassingResponse)) {
      try {
        refuse(
            new BadRequestException(
                500, ErrorCodes.PICKER_FAILED, "The endpoint picker failed on this request."));
      } catch (RuntimeException e) {
        cause.addSuppressed(e);
      }
    }
    end(Outcome.DISCONNECTED, Status.INTERNAL.withDescription("the endpoint picker failed"));
  }

  /** The proxy takes messages (again). */
  void onReady() {
    advance();
  }

  /** Tells the proxy what it takes, and asks for more while it takes what it gets. */
  void advance() {
    try {
      request.proceed(this);
    } catch (RuntimeException e) {
      failed(e);
    }
    if (wanting && asksForMore() && takesMessages()) {
      wanting = false;
      proxy.request(1);
    }
    if (leaving != null) {
      leaving.consider();
    }
  }

  /** Whether it is the proxy's turn. */
  boolean asksForMore() {
    return request.hasRoom() && response.wantsMore();
  }

  boolean takesMessages() {
    return !isOver() && proxy.isReady();
  }

  StreamContext context() {
    return context;
  }

  Destination destination(Route route) {
    return context.destinations().of(route.destinations());
  }

  EventExecutor loop() {
    return loop;
  }

  Mode mode() {
    return mode;
  }

  /** The request's spans; null where nobody traces it. */
  @Nullable RequestTrace trace() {
    return trace;
  }

  /** What the client called; empty where it isn't known. */
  String path() {
    return path;
  }

  Patience patience() {
    return patience;
  }

  PoolRequest atPool() {
    return atPool;
  }

  boolean isOver() {
    return request instanceof Over;
  }

  void become(RequestPhase next) {
    request = next;
  }

  void become(ResponsePhase next) {
    response = next;
  }

  void tell(ProcessingResponse answer) {
    proxy.onNext(answer);
  }

  /** The request is whole: the pool has the word. */
  void decide(Deciding next, RequestFacts facts) {
    patience.end();
    request = next;
    if (!atPool.submit(facts, next.body())) {
      refuse(BadRequestException.pickerBusy());
    }
  }

  void send(Route route) {
    goOn(() -> request.send(this, route));
  }

  /** Something has happened beside the proxy's messages, and this follows from it. */
  void goOn(Runnable what) {
    try {
      what.run();
    } catch (RuntimeException e) {
      failed(e);
    }
    advance();
  }

  /** The proxy has the whole request. */
  void requestSent() {
    request = Sent.PHASE;
    if ((context.leaveAfterPick() || leaving != null) && !isAnswered()) {
      // At once: no answer can have come before its request was whole.
      goOnAlone();
    }
  }

  void responseBegins() {
    request.responseBegins(this);
  }

  /** A response came to a request that was never sent. */
  void answeredByProxy() {
    patience.begin(1); // no core looks at what comes now
    atPool.end(Outcome.DISCONNECTED, Usage.UNKNOWN);
    request.release();
    request = AnsweredByProxy.PHASE;
  }

  void pass() {
    goOn(() -> response.pass(this));
  }

  /** The client gets this error, and no endpoint sees the request. */
  void refuse(BadRequestException problem) {
    context.pool().refused(FRONTEND, OpenAiError.of(problem));
    if (trace != null) {
      trace.refused(problem.status(), problem.code());
    }
    answer(Refusals.of(problem, path));
  }

  /**
   * Answers the client in the endpoint's place. Also what ends a response that has begun: the proxy
   * can't answer any more then, and resets. Ending the stream in an error would do the same, but
   * not where the proxy is told to go on without a picker that fails.
   */
  void answer(ProcessingResponse instead) {
    tell(instead);
    end(Outcome.DISCONNECTED);
  }

  /** The proxy kept silent for too long where it had to go on. */
  void silent() {
    request.silent(this);
  }

  /** Ends a stream on which the proxy keeps silent. */
  void giveUp() {
    end(
        Outcome.DISCONNECTED,
        Status.DEADLINE_EXCEEDED.withDescription(
            "nothing came for too long: the request is %s, the response %s"
                .formatted(request.state(), response.state())));
  }

  /** The proxy broke the protocol. */
  void unexpected(String what) {
    context.counters().protocolError();
    end(
        Outcome.DISCONNECTED,
        Status.INVALID_ARGUMENT.withDescription(
            "%s came out of order: the request is %s, the response %s"
                .formatted(what, request.state(), response.state())));
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
   * Ends the stream as soon as the proxy can go on without it: with the request, where that is yet
   * to be sent; else once the response has begun, all of it that came is passed on, and for a
   * moment no more came. One whose response is being given another name goes on to its end, or to
   * {@link #endNow}.
   */
  void leave() {
    leaving().consider();
  }

  /**
   * The same where the response has not begun. It may begin just then, and the proxy would lose
   * what it has shown of it.
   */
  void leaveUnanswered() {
    leaving().evenUnanswered();
  }

  private Leaving leaving() {
    if (leaving == null) {
      leaving = new Leaving(this, loop);
    }
    return leaving;
  }

  /** Whether anything of the response has come. */
  boolean isAnswered() {
    return !(response instanceof ResponseAwaited);
  }

  /** Whether nothing is missing but the rest of the response. */
  boolean canBeLeft() {
    return !wanting && request instanceof Sent && response.wantsMore() && !response.holds();
  }

  /** Whether its client would see that it was left, by another name of the model from there on. */
  boolean wouldShow() {
    return response.renames();
  }

  /** The proxy takes the request from here, with whatever comes of it. */
  void goOnAlone() {
    atPool.left();
    end(Outcome.DISCONNECTED);
  }

  /** Ends the stream now, quiet or not; a request that is not sent is refused. */
  void endNow() {
    if (isOver()) {
      return;
    }
    if (request instanceof ReadingRequest || request instanceof Deciding) {
      refuse(
          new BadRequestException(
              503, ErrorCodes.SHUTTING_DOWN, "The endpoint picker is shutting down. Try again."));
    } else if (canBeLeft()) {
      goOnAlone();
    } else {
      end(Outcome.DISCONNECTED, Status.UNAVAILABLE);
    }
  }

  /**
   * The proxy is gone: its usual way to end a stream, or because its client went away. One that
   * shows nothing of responses goes as soon as it has the request.
   */
  void onCancel() {
    proxyWent();
    close(Outcome.DISCONNECTED);
  }

  @Override
  public void onError(Throwable cause) {
    onCancel();
  }

  private void proxyWent() {
    if (request instanceof Sent
        && response instanceof ResponseAwaited
        && !mode.response().showsBody()) {
      atPool.left();
    }
  }

  @Override
  public void onCompleted() {
    proxyWent();
    end(Outcome.DISCONNECTED);
  }

  /** Ends the stream in peace: the proxy goes on without it. */
  void end(Outcome outcome) {
    end(outcome, Status.OK);
  }

  private void end(Outcome outcome, Status status) {
    if (isOver()) {
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
    if (isOver()) {
      return;
    }
    RequestPhase last = request;
    request = Over.PHASE;
    last.release();
    context.bodies().giveHead(headBytes);
    patience.end();
    if (leaving != null) {
      leaving.end();
    }
    atPool.end(outcome, response.usage());
    if (trace != null) {
      trace.gone(); // which is dropped where the pool knew of it
    }
    context.streams().closed(this);
    context.counters().streamClosed();
  }
}
