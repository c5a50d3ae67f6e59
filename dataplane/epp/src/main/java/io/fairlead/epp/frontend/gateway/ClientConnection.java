package io.fairlead.epp.frontend.gateway;

import io.fairlead.core.Route;
import io.fairlead.epp.memory.IncomingBody;
import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.ErrorCodes;
import io.fairlead.epp.openai.ModelList;
import io.fairlead.epp.openai.OpenAiError;
import io.fairlead.epp.openai.ParsedRequest;
import io.fairlead.epp.openai.RequestContent;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A client's connection: one request at a time, in the order in which they came.
 *
 * <p>Reads only while nothing that was read is waiting, so a client that sends ahead is held back
 * by TCP, and what is waiting is never more than one read. While a request is being served one read
 * stays open all the same: it is what tells that the client is gone.
 */
final class ClientConnection extends ChannelInboundHandlerAdapter implements IncomingBody.Owner {

  private enum State {
    /** Between requests. */
    IDLE,
    READING,
    /** There is no room for the body, or for more of it: nothing is read. */
    HELD,
    /** Refused; the rest of the body is read to save the connection. */
    DISCARDING,
    BUSY,
    CLOSING
  }

  private static final String FRONTEND = "gateway";

  private static final HttpRequest NONE =
      new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");

  private final Gateway gateway;
  private final Channel channel;
  private final LoopResources resources;
  private final ArrayDeque<HttpObject> waiting = new ArrayDeque<>();

  private State state = State.IDLE;
  private boolean pumping;
  private HttpRequest head = NONE;
  private RequestContent content = RequestContent.NONE;
  private String requestId = "";
  private @Nullable IncomingBody body;
  private long discardable;
  private boolean keepAlive;

  /** Whether the response has no other end than that of the connection. */
  private boolean endsWithConnection;

  /** When the client's turn began: what it did not send while it was served does not count. */
  private long clientsTurnAt;

  private @Nullable ProxyExchange exchange;
  private final StallWatch stall;
  private @Nullable Future<?> nextLook;

  ClientConnection(Gateway gateway, Channel channel, LoopResources resources) {
    this.gateway = gateway;
    this.channel = channel;
    this.resources = resources;
    this.stall = new StallWatch(gateway.config().clientStallTimeout().toNanos());
  }

  Channel channel() {
    return channel;
  }

  LoopResources resources() {
    return resources;
  }

  // ---- requests

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    channel.read();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object msg) {
    waiting.add((HttpObject) msg);
    pump();
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    readMore();
  }

  /**
   * A loop, not recursion: a single read may hold many requests (the codec allows 128). None is
   * taken on while the client does not read the answers to earlier ones.
   */
  private void pump() {
    if (pumping) {
      return;
    }
    pumping = true;
    while (state != State.BUSY && state != State.HELD && channel.isWritable()) {
      HttpObject next = waiting.poll();
      if (next == null) {
        break;
      }
      try {
        take(next);
      } finally {
        ReferenceCountUtil.release(next);
      }
    }
    pumping = false;
    readMore();
  }

  private void readMore() {
    if (waiting.isEmpty()) {
      channel.read();
    }
  }

  private void take(HttpObject message) {
    if (state == State.CLOSING) {
      return;
    }
    if (message instanceof HttpRequest request && state == State.IDLE) {
      begin(request);
    }
    if (message.decoderResult().isFailure()) {
      cutOff();
    } else if (message instanceof HttpContent content) {
      add(content);
    }
  }

  private void begin(HttpRequest request) {
    head = request;
    keepAlive = HttpUtil.isKeepAlive(request);
    requestId = gateway.requestId(request.headers().get(HeaderRules.REQUEST_ID, ""));
    int limit = gateway.config().maxBodyBytes();
    OpenAiError refusal = Target.refusal(request, limit);
    if (refusal != null) {
      refuseEarly(refusal, request.decoderResult().isSuccess());
      return;
    }
    long announced =
        HttpUtil.getContentLength(request, HttpUtil.isTransferEncodingChunked(request) ? -1L : 0L);
    IncomingBody next =
        new IncomingBody(gateway.bodies(), channel.eventLoop(), announced, limit, this);
    body = next;
    try {
      content = Target.content(request);
      if (next.open() == IncomingBody.Room.THERE) {
        readBody();
      } else {
        state = State.HELD;
      }
    } catch (BadRequestException e) {
      refuseEarly(OpenAiError.of(e), true);
    }
  }

  /** The client's turn: there is room for what it sends. */
  private void readBody() {
    state = State.READING;
    clientsTurnAt = now();
    if (body != null && body.length() == 0 && HttpUtil.is100ContinueExpected(head)) {
      var _ =
          channel.writeAndFlush(
              new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
    }
  }

  @Override
  public void roomMade() {
    readBody();
    pump();
  }

  @Override
  public void roomRefused(BadRequestException why) {
    refuseEarly(OpenAiError.of(why), true);
    pump();
  }

  /** Nothing more can be read of this client. One that was refused has its answer already. */
  private void cutOff() {
    keepAlive = false;
    if (state == State.READING) {
      refuse(Target.error(400, ErrorCodes.INVALID_HTTP, "The request's body is cut off."));
    } else if (state == State.DISCARDING) {
      closeAfterFlush();
    }
  }

  /** Answers a request that is read, or of which nothing more will be. */
  private void refuse(OpenAiError error) {
    dropBody();
    gateway.pool().refused(FRONTEND, error);
    answer(error);
  }

  /** Answers before the body is read. It is read all the same, within reason. */
  private void refuseEarly(OpenAiError error, boolean readable) {
    dropBody();
    gateway.pool().refused(FRONTEND, error);
    discardable = gateway.config().maxBodyBytes();
    boolean canDrain =
        readable
            && !HttpUtil.is100ContinueExpected(head)
            && HttpUtil.getContentLength(head, 0L) <= 2 * discardable;
    keepAlive &= canDrain;
    state = State.DISCARDING;
    write(error);
    if (!readable || HttpUtil.is100ContinueExpected(head)) {
      closeAfterFlush();
    }
  }

  private void add(HttpContent content) {
    boolean last = content instanceof LastHttpContent;
    if (state == State.READING) {
      read(content, last);
    }
    if (state == State.DISCARDING) {
      discardable -= content.content().readableBytes();
      if (last) {
        nextRequest();
      } else if (discardable < 0) {
        closeAfterFlush();
      }
    }
  }

  private void read(HttpContent content, boolean last) {
    IncomingBody reading = body;
    if (reading == null) {
      throw new IllegalStateException("reading without a body");
    }
    if (!reading.allows(content.content().readableBytes())) {
      refuseEarly(Target.tooLarge(gateway.config().maxBodyBytes()), true);
      return;
    }
    try {
      if (reading.add(content.content(), last) == IncomingBody.Room.AWAITED) {
        state = State.HELD;
      } else if (last) {
        state = State.BUSY;
        serve(reading);
      }
    } catch (BadRequestException e) {
      refuseEarly(OpenAiError.of(e), true);
    }
  }

  private void dropBody() {
    if (body != null) {
      body.release();
      body = null;
    }
  }

  // ---- answers

  private void serve(IncomingBody read) {
    Target target = Target.of(Target.path(head.uri()));
    switch (target) {
      case INFERENCE, STORED, TOKENIZER -> infer(read);
      case MODELS -> models();
      case READY -> probe(gateway.ready());
      case HEALTH -> probe(true);
      case VERSION -> version();
      case null -> throw new IllegalStateException("begun without a target");
    }
  }

  private void infer(IncomingBody read) {
    ParsedRequest parsed;
    try {
      parsed = resources.reader().read(content, read.bytes(), 0, read.length());
    } catch (BadRequestException e) {
      refuse(OpenAiError.of(e));
      return;
    }
    ProxyExchange next = new ProxyExchange(gateway, this, head, requestId, parsed, read);
    body = null;
    exchange = next;
    next.start(gateway.seed());
  }

  /** The endpoints may have to be asked first: the answer comes later, if the client is there. */
  private void models() {
    String name;
    try {
      name = Target.model(Target.path(head.uri()));
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
                      if (state == State.BUSY) {
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
      writeFull(200, json, HeaderRules.none());
      responseWritten();
    }
  }

  private void version() {
    String version = Gateway.class.getPackage().getImplementationVersion();
    String told = version == null ? "dev" : version;
    writeFull(
        200,
        ("{\"version\":\"" + told + "\"}").getBytes(StandardCharsets.US_ASCII),
        HeaderRules.none());
    responseWritten();
  }

  private void probe(boolean good) {
    writeFull(
        good ? 200 : 503,
        ("{\"status\":\"" + (good ? "ok" : "not ready") + "\"}")
            .getBytes(StandardCharsets.US_ASCII),
        HeaderRules.none());
    responseWritten();
  }

  /** Answers with an error; the request is over. */
  void answer(OpenAiError error) {
    write(error);
    responseWritten();
  }

  private void write(OpenAiError error) {
    HttpHeaders headers = HeaderRules.none();
    headers.set(OpenAiError.REASON_HEADER, error.code());
    if (error.retryAfterSeconds() >= 0) {
      headers.set(HttpHeaderNames.RETRY_AFTER, error.retryAfterSeconds());
    }
    writeFull(error.status(), error.body(Target.path(head.uri())), headers);
  }

  private void writeFull(int status, byte[] content, HttpHeaders headers) {
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(status),
            Unpooled.wrappedBuffer(content),
            headers,
            EmptyHttpHeaders.INSTANCE);
    headers.set(HttpHeaderNames.CONTENT_TYPE, OpenAiError.CONTENT_TYPE);
    headers.set(HttpHeaderNames.CONTENT_LENGTH, content.length);
    headers.set(HeaderRules.REQUEST_ID, requestId);
    connectionHeader(headers);
    var _ = channel.writeAndFlush(response);
  }

  private void connectionHeader(HttpHeaders headers) {
    keepAlive &= !gateway.leaving();
    if (!keepAlive) {
      headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    } else if (head.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
      headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
    }
  }

  /** The endpoint's response begins; {@code added} are headers of our own. */
  void startResponse(HttpResponse from, String endpoint, List<Route.Header> added) {
    HttpHeaders headers = HeaderRules.toClient(from.headers());
    for (Route.Header header : added) {
      headers.set(header.name(), header.value());
    }
    boolean empty = from.status().code() == 204 || from.status().code() == 304;
    endsWithConnection = false;
    if (!headers.contains(HttpHeaderNames.CONTENT_LENGTH) && !empty) {
      if (head.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
        keepAlive = false;
        endsWithConnection = true;
      } else {
        headers.set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
      }
    }
    headers.set(HeaderRules.REQUEST_ID, requestId);
    if (gateway.config().exposeEndpoint()) {
      headers.set(HeaderRules.ENDPOINT, endpoint);
    }
    connectionHeader(headers);
    var _ = channel.write(new DefaultHttpResponse(HttpVersion.HTTP_1_1, from.status(), headers));
  }

  /** More of the response. Takes ownership. */
  void write(HttpContent content) {
    var _ = channel.write(content);
  }

  /** Lets out what was written; whether there is room for more. */
  boolean flush() {
    channel.flush();
    return channel.isWritable();
  }

  /** The response is written to its end: on to the next request. */
  void responseWritten() {
    exchange = null;
    dropBody();
    channel.flush();
    nextRequest();
    pump();
  }

  /** The response can't be finished: the client must not take it for whole. */
  void breakOff() {
    exchange = null;
    if (endsWithConnection) {
      // An ordinary close would be the response's proper end.
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
    }
    closeAfterFlush();
  }

  private void nextRequest() {
    if (keepAlive && !gateway.refusing()) {
      state = State.IDLE;
      clientsTurnAt = now();
    } else {
      closeAfterFlush();
    }
  }

  private void closeAfterFlush() {
    state = State.CLOSING;
    var _ = channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
  }

  // ---- the connection

  /** No more requests: an idle connection closes now, another one after its response. */
  void drain() {
    if (state == State.IDLE && waiting.isEmpty()) {
      closeAfterFlush();
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    stall.restart(now());
    if (!channel.isWritable()) {
      if (nextLook == null) {
        lookLater();
      }
      return;
    }
    if (exchange != null) {
      exchange.clientCanTakeMore();
    }
    pump();
  }

  private void lookLater() {
    nextLook = channel.eventLoop().schedule(this::look, stall.pause(), TimeUnit.NANOSECONDS);
  }

  private void look() {
    nextLook = null;
    if (channel.isWritable() || !channel.isActive()) {
      return;
    }
    if (stall.stalled(now(), channel.bytesBeforeWritable())) {
      // What waits would stay in the kernel's memory after an ordinary close.
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
      var _ = channel.close();
    } else {
      lookLater();
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (!(event instanceof IdleStateEvent)) {
      ctx.fireUserEventTriggered(event);
    } else if (now() - clientsTurnAt < gateway.config().clientIdleTimeout().toNanos()) {
      return; // silent while it was served; the next look is a timeout away
    } else if (state == State.READING) {
      keepAlive = false;
      refuse(Target.error(408, ErrorCodes.REQUEST_TIMEOUT, "The request's body stopped coming."));
    } else if (state != State.BUSY && state != State.HELD) {
      var _ = channel.close();
    }
  }

  private long now() {
    return channel.eventLoop().ticker().nanoTime();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    state = State.CLOSING;
    dropBody();
    if (nextLook != null) {
      nextLook.cancel(false);
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
    var _ = channel.close();
  }
}
