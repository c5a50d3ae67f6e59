package io.fairlead.epp.frontend.gateway;

import io.fairlead.core.Route;
import io.fairlead.epp.memory.IncomingBody;
import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.ErrorCodes;
import io.fairlead.epp.openai.ModelList;
import io.fairlead.epp.openai.OpenAiError;
import io.fairlead.epp.openai.ParsedRequest;
import io.fairlead.epp.openai.RequestContent;
import io.fairlead.epp.tracing.RequestTrace;
import io.fairlead.epp.tracing.Tracing;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A client's connection, which serves one request at a time, in order of arrival. A stream of an
 * HTTP/2 connection is one, too, with a single request.
 *
 * <p>It reads only while nothing that was read is waiting. So TCP holds back a client that sends
 * ahead, and no more than one read ever waits. While a request is being served one read stays open
 * all the same, since it shows when the client leaves.
 */
final class ClientConnection extends ChannelInboundHandlerAdapter implements Intake.Owner {

  private enum State {
    /** A request is being taken in, or may come. */
    TAKING,
    SERVING,
    CLOSING
  }

  static final String FRONTEND = "gateway";

  /** Requests that may come in one read while another is served: more are no honest client's. */
  private static final int MOST_WAITING = 128;

  private final Gateway gateway;
  private final Channel channel;
  private final LoopResources resources;
  private final Intake intake;
  private final ClientAnswer answer;
  private final StallGuard stalls;
  private final Hop hop;
  private final ArrayDeque<HttpObject> waiting = new ArrayDeque<>();

  private State state = State.TAKING;
  private boolean pumping;
  private int requestsWaiting;

  /** Bytes of which the codec has made nothing yet, and requests of which we haven't. */
  private final Unfinished undecoded;

  /** How many bytes are read of a client after its last answer. */
  private long droppable;

  private @Nullable ProxyExchange exchange;

  /** Of a request that is not the exchange's yet; null where nobody traces it. */
  private @Nullable RequestTrace trace;

  ClientConnection(Gateway gateway, Channel channel, LoopResources resources, Hop hop) {
    this.gateway = gateway;
    this.channel = channel;
    this.resources = resources;
    this.hop = hop;
    droppable = gateway.config().maxBodyBytes();
    intake = new Intake(gateway.bodies(), gateway.config(), channel.eventLoop(), this);
    answer = new ClientAnswer(gateway, channel);
    undecoded = new Unfinished(channel, resources.unfinished());
    stalls = new StallGuard(channel, gateway.config().clients(), answer::made, this::answerWaits);
  }

  Channel channel() {
    return channel;
  }

  LoopResources resources() {
    return resources;
  }

  Hop hop() {
    return hop;
  }

  /** Puts it behind the codec of HTTP/1.1, of which {@link #undecoded} has to know. */
  void addTo(ChannelPipeline pipeline) {
    pipeline
        .addLast(byteWatch())
        .addLast(new RequestDecoder(undecoded))
        .addLast(
            new HttpResponseEncoder() {
              @Override
              protected boolean isContentAlwaysEmpty(HttpResponse response) {
                return answer.head().method().equals(HttpMethod.HEAD)
                    || super.isContentAlwaysEmpty(response);
              }
            })
        .addLast(this);
  }

  /** Goes before the codec: sees all bytes that come. */
  private ChannelHandler byteWatch() {
    return new ChannelInboundHandlerAdapter() {
      @Override
      public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (state == State.CLOSING && msg instanceof ByteBuf bytes) {
          drop(bytes);
        } else {
          undecoded.came(msg instanceof ByteBuf bytes ? bytes.readableBytes() : 1);
          ctx.fireChannelRead(msg);
        }
      }
    };
  }

  /** Of a client that has its last answer, but may have to be read for it to take that. */
  private void drop(ByteBuf bytes) {
    droppable -= bytes.readableBytes();
    bytes.release();
    if (droppable < 0) {
      var _ = channel.close();
    }
  }

  // ---- requests

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    if (channel.isActive()) {
      channelActive(ctx);
    }
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    intake.settle(false);
    channel.read();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object msg) {
    if (state != State.CLOSING && msg instanceof HttpObject object) {
      waiting.add(object);
      pump();
      // Most are taken on at once: only of one that is still there the headers are gone through.
      if (object instanceof HttpRequest head && !waiting.isEmpty()) {
        undecoded.waitBehind(Framing.memory(head.headers()));
        if (++requestsWaiting > MOST_WAITING) {
          var _ = channel.close();
        }
      }
    } else {
      // What a stream of HTTP/2 brings after its end, or that is no part of a message.
      ReferenceCountUtil.release(msg);
      readMore();
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    undecoded.settle();
    intake.settle(undecoded.isThere());
    readMore();
  }

  /**
   * A loop, not recursion: a single read may hold many requests. None is taken on while the client
   * does not read the answers to earlier ones.
   */
  private void pump() {
    if (pumping) {
      return;
    }
    pumping = true;
    try {
      takeWaiting();
    } finally {
      pumping = false;
    }
    readMore();
  }

  private void takeWaiting() {
    while (state != State.SERVING && !intake.isHeld() && channel.isWritable()) {
      HttpObject next = waiting.poll();
      if (next == null) {
        break;
      }
      // Those that wait are before one that has just come.
      if (next instanceof HttpRequest head && requestsWaiting > 0) {
        undecoded.waitBehind(-Framing.memory(head.headers()));
        requestsWaiting--;
      }
      try {
        if (state == State.TAKING) {
          intake.take(next);
        }
      } finally {
        ReferenceCountUtil.release(next);
      }
    }
  }

  private void readMore() {
    if (waiting.isEmpty()) {
      channel.read();
    }
  }

  @Override
  public void begun(HttpRequest head, long bytes) {
    answer.to(head);
    if (bytes > Framing.MAX_KEPT && !(channel instanceof Http2StreamChannel)) {
      answer.endConnection();
    }
    Tracing tracing = gateway.config().tracing();
    if (tracing != null) {
      Target target = Target.of(Target.path(head.uri()));
      boolean traced = target != null && target.isServedByEndpoints() && !isBrowserAsking(head);
      trace = traced ? tracing.begin(FRONTEND, head.headers()::get) : null;
    }
  }

  private boolean isBrowserAsking(HttpRequest head) {
    return gateway.config().origins().mayCall(head);
  }

  @Override
  public void continued() {
    answer.goOn();
  }

  @Override
  public void refused(OpenAiError error, boolean reusable) {
    tellRefused(error);
    if (!reusable) {
      answer.endConnection();
    }
    answer.error(error);
  }

  private void tellRefused(OpenAiError error) {
    gateway.pool().refused(FRONTEND, error);
    if (trace != null) {
      trace.refused(error.status(), error.code());
      trace = null;
    }
  }

  @Override
  public void passed(boolean reusable) {
    if (reusable) {
      nextRequest();
    } else {
      state = State.CLOSING;
      answer.closeLate();
      awaitNext();
    }
  }

  @Override
  public void resumed() {
    pump();
  }

  @Override
  public void tooLate() {
    if (intake.isIdle() && answer.unsent() != null) {
      intake.next(); // a close would throw away what waits for it
    } else {
      var _ = channel.close();
    }
  }

  @Override
  public void taken(RequestContent content, IncomingBody body, HttpHeaders trailers) {
    state = State.SERVING;
    Target target = Target.of(Target.path(answer.head().uri()));
    if (target == null) {
      throw new IllegalStateException("taken without a target");
    }
    boolean asked = isBrowserAsking(answer.head());
    if (asked || !target.isServedByEndpoints()) {
      body.release();
    }
    if (asked) {
      answer.mayCall(target);
      responseWritten();
      return;
    }
    switch (target) {
      case INFERENCE, STORED, TOKENIZER -> infer(content, body, trailers);
      case MODELS -> models();
      case READY -> probe(gateway.ready());
      case HEALTH -> probe(true);
      case VERSION -> version();
    }
  }

  // ---- answers

  private void infer(RequestContent content, IncomingBody body, HttpHeaders trailers) {
    ParsedRequest parsed;
    try {
      parsed = resources.reader().read(content, body.bytes());
    } catch (BadRequestException e) {
      body.release();
      refuse(e);
      return;
    } catch (RuntimeException | Error e) {
      body.release();
      var _ = channel.close(); // nobody would answer it
      throw e;
    }
    RequestTrace traced = trace;
    trace = null;
    ProxyExchange next =
        new ProxyExchange(
            gateway, this, answer.head(), trailers, answer.requestId(), parsed, body, traced);
    exchange = next;
    if (!next.start(gateway.seed())) {
      trace = traced;
      refuse(BadRequestException.pickerBusy());
    }
  }

  private void refuse(BadRequestException why) {
    OpenAiError error = OpenAiError.of(why);
    tellRefused(error);
    answer(error);
  }

  /** The endpoints may have to be asked first: the answer comes later, if the client is there. */
  private void models() {
    String name;
    try {
      name = Target.model(Target.path(answer.head().uri()));
    } catch (IllegalArgumentException e) {
      answer(Target.error(400, ErrorCodes.INVALID_HTTP, "The path is not encoded as it must be."));
      return;
    }
    gateway.models(
        list ->
            channel
                .eventLoop()
                .execute(
                    () -> {
                      if (state == State.SERVING) {
                        models(list, name);
                      }
                    }));
  }

  private void models(ModelList list, String name) {
    byte[] json = name.isEmpty() ? list.json() : list.json(name);
    if (json == null) {
      answer(
          Target.error(
              404,
              ErrorCodes.MODEL_NOT_FOUND,
              "This model is not configured, and no endpoint serves it; see /v1/models."));
    } else {
      answer.json(200, json);
      responseWritten();
    }
  }

  private void version() {
    String version = Gateway.class.getPackage().getImplementationVersion();
    String told = version == null ? "dev" : version;
    answer.json(200, ("{\"version\":\"" + told + "\"}").getBytes(StandardCharsets.US_ASCII));
    responseWritten();
  }

  private void probe(boolean good) {
    String json = "{\"status\":\"" + (good ? "ok" : "not ready") + "\"}";
    answer.json(good ? 200 : 503, json.getBytes(StandardCharsets.US_ASCII));
    responseWritten();
  }

  /** Answers with an error; the request is over. */
  void answer(OpenAiError error) {
    answer.error(error);
    responseWritten();
  }

  /** The endpoint's response begins; {@code added} are headers of our own. */
  void startResponse(HttpResponse from, List<Route.Header> added) {
    answer.begin(from, added);
  }

  /** More of the response. Takes ownership. */
  void write(HttpContent content) {
    answer.write(content);
  }

  /** Lets out what was written; whether there is room for more. */
  boolean flush() {
    boolean room = answer.flush();
    if (!room) {
      resources.held().add(stalls, StallGuard.waiting(channel));
    }
    return room;
  }

  /** The response is written to its end: on to the next request. */
  void responseWritten() {
    exchange = null;
    channel.flush();
    nextRequest();
    pump();
  }

  /** The response can't be finished: the client must not take it for whole. */
  void breakOff() {
    exchange = null;
    state = State.CLOSING;
    answer.breakOff();
    awaitNext();
  }

  private void nextRequest() {
    if (answer.keepsAlive()) {
      state = State.TAKING;
      awaitNext();
      intake.settle(undecoded.isThere());
    } else {
      close();
    }
  }

  private void close() {
    state = State.CLOSING;
    answer.close();
    // A client that takes nothing of its last answer is not waited for any longer than another.
    awaitNext();
  }

  /** It is the client's turn: to take its answer, and to ask on. */
  private void awaitNext() {
    ChannelFuture end = answer.unsent();
    if (end != null) {
      stalls.watch(end); // it may be slow, but not stand still
    }
    answer.over();
    intake.next();
  }

  /** Of a stream that takes nothing the connection may take nothing either. */
  private void answerWaits() {
    Http2Connection around =
        channel instanceof Http2StreamChannel
            ? channel.parent().pipeline().get(Http2Connection.class)
            : null;
    if (around != null) {
      around.answerWaits();
    }
  }

  // ---- the connection

  /**
   * No more requests: a connection without one closes now, another one after its response, also
   * where only the beginning of a head is here.
   */
  void drain() {
    boolean between = state == State.TAKING && intake.isIdle() && waiting.isEmpty();
    if (between && !undecoded.isThere()) {
      close();
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    stalls.writabilityChanged();
    if (channel.isWritable()) {
      resources.held().remove(stalls);
      if (exchange != null) {
        exchange.clientCanTakeMore();
      }
      pump();
    }
  }

  /**
   * A stream that its client resets is told of so, before what came with it is read. Its end is
   * told when all has been read that came, with requests that are reset at once, too, perhaps: none
   * is to count for so long.
   */
  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof Http2ResetFrame) {
      gone();
      var _ = channel.close();
    } else {
      ctx.fireUserEventTriggered(event);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    gone();
  }

  /** The client wants nothing more. */
  private void gone() {
    state = State.CLOSING;
    intake.stop();
    stalls.stop();
    undecoded.stop();
    resources.held().remove(stalls);
    if (trace != null) {
      trace.gone();
      trace = null;
    }
    ProxyExchange left = exchange;
    exchange = null;
    if (left != null) {
      left.clientGone();
    }
    for (HttpObject o = waiting.poll(); o != null; o = waiting.poll()) {
      ReferenceCountUtil.release(o);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    Throwable root = cause instanceof DecoderException ? cause.getCause() : cause;
    if (root instanceof Http2Exception broken) {
      OpenAiError error = refusal(broken.error());
      if (error != null && state == State.TAKING && !intake.isDiscarding()) {
        tellRefused(error);
      }
      state = State.CLOSING;
      answer.reset(broken.error());
    } else {
      var _ = channel.close();
    }
  }

  /** What a stream that is reset with this counts as, where its request was not refused before. */
  private static @Nullable OpenAiError refusal(Http2Error why) {
    return switch (why) {
      case PROTOCOL_ERROR ->
          Target.error(400, ErrorCodes.INVALID_HTTP, "The request is not valid HTTP/2.");
      case REFUSED_STREAM ->
          Target.error(
              503, ErrorCodes.TOO_MANY_STREAMS, "The connection has as many streams as it may.");
      default -> null;
    };
  }
}
