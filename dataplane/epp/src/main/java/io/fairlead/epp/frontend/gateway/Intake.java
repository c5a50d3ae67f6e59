package io.fairlead.epp.frontend.gateway;

import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.memory.IncomingBody;
import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.ErrorCodes;
import io.fairlead.epp.openai.OpenAiError;
import io.fairlead.epp.openai.RequestContent;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;

/**
 * Takes requests in, one after the other: the head, room for its body, the body. Of one that is
 * refused the rest is read all the same, within reason, to save the connection. On the loop of its
 * connection.
 */
final class Intake implements IncomingBody.Owner, ClientDeadlines.Owner {

  /** Whose requests they are. */
  interface Owner {

    /**
     * A request begins: what is answered from now on is for it.
     *
     * @param bytes of memory that its head takes
     */
    void begun(HttpRequest head, long bytes);

    /** The client may send its body; it has asked. */
    void continued();

    /**
     * All of a request is here. Nothing more may be taken until it is answered.
     *
     * @param body the owner's to release
     */
    void taken(RequestContent content, IncomingBody body, HttpHeaders trailers);

    /**
     * A request is refused.
     *
     * @param reusable whether the connection is good for another one if its rest is read
     */
    void refused(OpenAiError error, boolean reusable);

    /** A request that was refused is over: on to the next, or to the end. */
    void passed(boolean reusable);

    /** More can be taken again. */
    void resumed();

    /** The client was given enough time. */
    void tooLate();
  }

  private enum State {
    /** Between requests. */
    IDLE,
    READING,
    /** There is no room for the body, or for more of it: nothing is read. */
    HELD,
    /** Refused; the rest of the body is read. */
    DISCARDING
  }

  private static final HttpRequest NONE =
      new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");

  private final BodyBudget bodies;
  private final int limit;
  private final AllowedOrigins origins;
  private final int leastRate;
  private final EventLoop loop;
  private final Owner owner;
  private final ClientDeadlines deadlines;

  private State state = State.IDLE;
  private HttpRequest head = NONE;
  private RequestContent content = RequestContent.NONE;
  private @Nullable IncomingBody body;

  /** Of a body that is all here, and waits for room. */
  private @Nullable HttpHeaders trailers;

  /** Whether the client waits to be told that it may send its body. */
  private boolean asks;

  private long discardable;

  /** What is charged of the request's head and trailers. */
  private long headBytes;

  Intake(BodyBudget bodies, GatewayConfig config, EventLoop loop, Owner owner) {
    this.bodies = bodies;
    limit = config.maxBodyBytes();
    origins = config.origins();
    leastRate = config.clients().rate();
    this.loop = loop;
    this.owner = owner;
    deadlines = new ClientDeadlines(config.clients(), loop, this);
    deadlines.request();
  }

  /** Whether nothing is to be taken for want of room. */
  boolean isHeld() {
    return state == State.HELD;
  }

  /** Whether the rest is read of a request that is refused. */
  boolean isDiscarding() {
    return state == State.DISCARDING;
  }

  /** Whether no request is under way. */
  boolean isIdle() {
    return state == State.IDLE;
  }

  /** The request that was taken is answered: the next one may come. */
  void next() {
    giveHead();
    head = NONE; // it may be long until the next one comes
    deadlines.request();
    deadlines.settle();
  }

  /** What one read brought has been taken; {@code partHead} if the last of it begins a head. */
  void settle(boolean partHead) {
    if (partHead && state == State.IDLE) {
      deadlines.head();
    }
    settle();
  }

  private void settle() {
    deadlines.settle();
    if (state == State.READING && body != null) {
      body.settle();
    }
  }

  /** A piece of a request; not while one is being served. */
  void take(HttpObject message) {
    if (message instanceof HttpRequest request && state == State.IDLE) {
      begin(request);
    }
    if (message.decoderResult().isFailure()) {
      cutOff(message.decoderResult().cause());
    } else if (message instanceof HttpContent piece) {
      add(piece);
    }
  }

  private void begin(HttpRequest request) {
    head = request;
    asks = HttpUtil.is100ContinueExpected(request);
    deadlines.ours();
    long bytes = Framing.memory(request);
    owner.begun(request, bytes);
    OpenAiError refusal = Target.refusal(request, limit, origins);
    if (refusal != null) {
      refuseEarly(refusal, request.decoderResult().isSuccess());
      return;
    }
    Host.settle(request);
    long announced =
        HttpUtil.getContentLength(request, HttpUtil.isTransferEncodingChunked(request) ? -1L : 0L);
    IncomingBody next = new IncomingBody(bodies, loop, announced, limit, this);
    body = next;
    try {
      takeHead(bytes);
      content = origins.mayCall(request) ? RequestContent.NONE : Target.content(request);
      if (next.open() == IncomingBody.Room.THERE) {
        readBody();
      } else {
        state = State.HELD;
      }
    } catch (BadRequestException e) {
      refuseEarly(OpenAiError.of(e), true);
    }
  }

  private void takeHead(long bytes) throws BadRequestException {
    bodies.takeHead(bytes);
    headBytes += bytes;
  }

  private void giveHead() {
    bodies.giveHead(headBytes);
    headBytes = 0;
  }

  /** The client's turn: there is room for what it sends. */
  private void readBody() {
    state = State.READING;
    deadlines.body();
    if (asks) {
      asks = false;
      owner.continued();
    }
  }

  @Override
  public void roomMade() {
    if (body != null && trailers != null) {
      taken(body, trailers);
    } else {
      readBody();
    }
    owner.resumed();
    settle();
  }

  @Override
  public void roomRefused(BadRequestException why) {
    boolean whole = trailers != null;
    refuseEarly(OpenAiError.of(why), true);
    if (whole && state == State.DISCARDING) {
      pass(true);
    }
    owner.resumed();
    deadlines.settle();
  }

  @Override
  public void tooSlow(BadRequestException why) {
    end(OpenAiError.of(why));
  }

  /** Nothing more can be read of this client. One that was refused has its answer already. */
  private void cutOff(Throwable cause) {
    if (state == State.READING) {
      end(Framing.badBody(cause));
    } else if (state == State.DISCARDING) {
      pass(false);
    }
  }

  /** Refuses a request of which nothing more will be read. */
  private void end(OpenAiError error) {
    drop();
    owner.refused(error, false);
    pass(false);
  }

  private void pass(boolean reusable) {
    state = State.IDLE;
    owner.passed(reusable);
  }

  /** Refuses a request before its body is read. */
  private void refuseEarly(OpenAiError error, boolean readable) {
    drop();
    discardable = 2L * limit;
    boolean canDrain = readable && !asks && HttpUtil.getContentLength(head, 0L) <= discardable;
    state = State.DISCARDING;
    deadlines.body();
    owner.refused(error, canDrain);
    head.headers().clear(); // it may take long to read the rest, and of many streams at a time
    if (!readable || asks) {
      pass(false);
    }
  }

  private void add(HttpContent piece) {
    boolean last = piece instanceof LastHttpContent;
    if (state == State.READING) {
      read(piece, last);
    }
    if (state == State.DISCARDING) {
      int bytes = piece.content().readableBytes();
      discardable -= bytes;
      deadlines.received(bytes);
      if (last) {
        pass(true);
      } else if (discardable < 0) {
        pass(false);
      }
    }
  }

  private void read(HttpContent piece, boolean last) {
    IncomingBody reading = body;
    if (reading == null) {
      throw new IllegalStateException("reading without a body");
    }
    int bytes = piece.content().readableBytes();
    asks &= bytes == 0;
    if (!reading.allows(bytes)) {
      refuseEarly(Target.tooLarge(limit), true);
      return;
    }
    deadlines.received(bytes);
    HttpHeaders after =
        last ? ((LastHttpContent) piece).trailingHeaders() : EmptyHttpHeaders.INSTANCE;
    if (Framing.isTooLong(after)) {
      end(Framing.headersTooLong());
      return;
    }
    try {
      takeHead(Framing.memory(after));
      if (reading.add(piece.content(), last) == IncomingBody.Room.AWAITED) {
        state = State.HELD;
        trailers = last ? after : null;
        deadlines.ours();
      } else if (last) {
        taken(reading, after);
      }
    } catch (BadRequestException e) {
      if (e.code().equals(ErrorCodes.REQUEST_TIMEOUT)) {
        end(OpenAiError.of(e));
      } else {
        refuseEarly(OpenAiError.of(e), true);
      }
    }
  }

  private void taken(IncomingBody whole, HttpHeaders after) {
    state = State.IDLE;
    body = null;
    trailers = null;
    deadlines.ours();
    owner.taken(content, whole, after);
  }

  @Override
  public void requestTooLate() {
    owner.tooLate();
  }

  @Override
  public void bodyTooSlow() {
    if (state == State.READING) {
      end(
          Target.error(
              408,
              ErrorCodes.REQUEST_TIMEOUT,
              "The request's body comes more slowly than " + leastRate + " bytes a second."));
    } else {
      owner.tooLate();
    }
  }

  private void drop() {
    giveHead();
    trailers = null;
    if (body != null) {
      body.release();
      body = null;
    }
  }

  /** The connection is gone. */
  void stop() {
    deadlines.stop();
    drop();
  }
}
