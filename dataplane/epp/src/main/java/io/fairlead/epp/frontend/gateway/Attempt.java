package io.fairlead.epp.frontend.gateway;

import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.Route;
import io.fairlead.epp.openai.AnswerBeginning;
import io.fairlead.epp.openai.OpenAiError;
import io.fairlead.epp.transport.Failures;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One send of a request to one endpoint. Knows whether the endpoint has all of it and since when,
 * and what came back: so it can say what a failure was. On the loop of its client's connection.
 *
 * <p>Nothing of an answer reaches the client before the answer is known to be one: a head is held
 * until the first byte of what was asked for, and an answer that is a failure until the core has
 * said whether the client shall get it. What is held of a failure is what one read brought; nothing
 * more is read meanwhile. What servers send to tell a client to wait is held with the head for a
 * while, so that another endpoint may still get the request, and then sent on: clients and what is
 * before them may need it.
 *
 * <p>A reused connection that breaks without a byte says nothing about the endpoint, which may have
 * closed it while idle: the request is sent once more, to the same endpoint, on a new connection.
 * Not if it was being sent, or was there, for a while: then the endpoint took nothing of it, or was
 * at work and may have died of it.
 */
final class Attempt implements BackendConnection.User {

  /** Longer than an idle connection's end can take to arrive. */
  private static final long STALE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How long it may take to see whether an answer of 500 has a body. */
  private static final long BODY_MILLIS = 100;

  /** So long, and so much, is held of what tells the client to wait. */
  private static final long HOLD_MILLIS = 10_000;

  private static final int HOLD_BYTES = 16 << 10;

  private enum Phase {
    CONNECTING,
    /** The request is being sent, or was, and no head of an answer has come. */
    SENT,
    /** The head of a good answer is held. */
    HEAD,
    /** The head of an answer of 500 is held: whether it has a body is to be seen. */
    BODY,
    /** The core decides; an answer that is a failure is held. */
    FAILED,
    /** The client gets the answer. */
    ANSWERING,
    OVER
  }

  private final ProxyExchange exchange;
  private final BackendPool backends;
  private final EventLoop loop;
  private final Route route;
  private final InetSocketAddress address;

  private Phase phase = Phase.CONNECTING;
  private @Nullable BackendConnection connection;
  private boolean wasStale;
  private boolean written;
  private long sentAt;
  private @Nullable HttpResponse head;
  private @Nullable AnswerBeginning beginning;
  private int heldBytes;

  /** Whether the core knows that the head came alone. */
  private boolean headTold;

  private final ArrayDeque<HttpContent> held = new ArrayDeque<>(2);
  private @Nullable Future<?> patience;

  Attempt(ProxyExchange exchange, BackendPool backends, EventLoop loop, Route route) {
    this.exchange = exchange;
    this.backends = backends;
    this.loop = loop;
    this.route = route;
    this.address = new InetSocketAddress(route.address(), route.port());
  }

  /** Only a first attempt reuses connections, so that at most one of a request can be stale. */
  void start() {
    backends.open(address, route.attempt() == 1, this);
  }

  @Override
  public void opened(BackendConnection opened) {
    if (phase == Phase.OVER) {
      opened.giveBack();
      return;
    }
    connection = opened;
    phase = Phase.SENT;
    sentAt = loop.ticker().nanoTime();
    opened.send(exchange.request(route), this);
  }

  /** An endpoint that is gone right after a connection to it broke died, perhaps of the request. */
  @Override
  public void openFailed(Throwable cause) {
    if (phase != Phase.OVER) {
      Failure how = Failures.ofConnect(cause);
      fail(wasStale && how.ofEndpoint() ? Failure.DIED : how);
    }
  }

  @Override
  public void written() {
    written = true;
  }

  @Override
  public void head(HttpResponse response) {
    head = response;
    int status = response.status().code();
    exchange.headed(status);
    HttpHeaders headers = response.headers();
    beginning =
        new AnswerBeginning(
            headers.get(HttpHeaderNames.CONTENT_TYPE, ""),
            headers.get(HttpHeaderNames.CONTENT_ENCODING, ""));
    if (status < 500) {
      phase = Phase.HEAD;
    } else if (status == 500 && !HttpUtil.isContentLengthSet(response)) {
      phase = Phase.BODY;
      patience = loop.schedule(() -> fail(Failure.ERROR), BODY_MILLIS, TimeUnit.MILLISECONDS);
    } else {
      fail(Failures.ofStatus(status, HttpUtil.getContentLength(response, -1L) == 0));
    }
  }

  @Override
  public void content(HttpContent content) {
    switch (phase) {
      case HEAD -> {
        held.add(content);
        heldBytes += content.content().readableBytes();
        boolean begun = begun(content);
        if (begun || heldBytes > HOLD_BYTES) {
          begin();
          passHeld(begun);
        } else if (patience == null) {
          patience = loop.schedule(this::holdNoLonger, HOLD_MILLIS, TimeUnit.MILLISECONDS);
        }
      }
      case ANSWERING -> exchange.content(content, begun(content));
      case BODY -> {
        held.add(content);
        fail(Failure.ERROR);
      }
      case FAILED -> held.add(content);
      case CONNECTING, SENT, OVER -> content.release();
    }
  }

  @Override
  public void last(LastHttpContent content) {
    connection = null;
    switch (phase) {
      case HEAD -> {
        begin();
        passHeld(false);
        exchange.last(content, begun(content));
      }
      case ANSWERING -> exchange.last(content, begun(content));
      case BODY -> {
        held.add(content);
        fail(Failures.ofStatus(500, !content.content().isReadable()));
      }
      case FAILED -> held.add(content);
      case CONNECTING, SENT, OVER -> content.release();
    }
  }

  /** Whether what was asked for has begun to come, with this piece or before. */
  private boolean begun(HttpContent content) {
    return beginning != null && beginning.in(content.content());
  }

  /** The client may have waited for as long as what is before it lets it wait for nothing. */
  private void holdNoLonger() {
    begin();
    passHeld(false);
    if (connection != null && exchange.readyForMore()) {
      connection.read();
    }
  }

  /**
   * The client gets what was held.
   *
   * @param begun whether what was asked for began with the last of it
   */
  private void passHeld(boolean begun) {
    for (HttpContent next = held.poll(); next != null; next = held.poll()) {
      exchange.content(next, begun && held.isEmpty());
    }
  }

  @Override
  public boolean readyForMore() {
    return switch (phase) {
      case ANSWERING -> exchange.readyForMore();
      case FAILED -> false;
      case HEAD -> {
        tellHead();
        yield true;
      }
      case CONNECTING, SENT, BODY, OVER -> true;
    };
  }

  /** A head that comes with some of its body is not told: that says all. */
  private void tellHead() {
    if (!headTold) {
      headTold = true;
      exchange.headAlone();
    }
  }

  void clientCanTakeMore() {
    if (phase == Phase.ANSWERING && connection != null) {
      connection.read();
    }
  }

  /** The client gets the answer that is held, as it came. */
  void pass() {
    boolean whole = !held.isEmpty() && held.peekLast() instanceof LastHttpContent;
    if (head == null || (connection == null && !whole)) {
      exchange.cutOff(route); // it broke while it was held
      return;
    }
    begin();
    for (HttpContent next = held.poll(); next != null; next = held.poll()) {
      if (next instanceof LastHttpContent last) {
        exchange.last(last, begun(last));
        return;
      }
      exchange.content(next, begun(next));
    }
    if (connection != null && exchange.readyForMore()) {
      connection.read();
    }
  }

  private void begin() {
    HttpResponse response = head;
    stopWaiting();
    if (response != null) {
      phase = Phase.ANSWERING;
      exchange.begin(response, route, written);
    }
  }

  @Override
  public void broken(boolean byteSeen, boolean reused) {
    connection = null;
    switch (phase) {
      case SENT -> {
        if (!byteSeen && reused && !wasSentLongAgo()) {
          wasStale = true;
          written = false;
          phase = Phase.CONNECTING;
          backends.open(address, false, this);
        } else {
          fail(written || byteSeen ? Failure.DIED : Failure.RESET_UNSENT);
        }
      }
      case HEAD, BODY -> fail(Failure.DIED);
      case ANSWERING -> exchange.breakOff(Outcome.FAILED);
      case CONNECTING, FAILED, OVER -> {}
    }
  }

  /** As if the endpoint had answered so. */
  @Override
  public void refused(OpenAiError why) {
    if (phase != Phase.SENT) {
      broken(true, false);
      return;
    }
    ByteBuf body = Unpooled.wrappedBuffer(exchange.bodyOf(why));
    HttpResponse answer =
        new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(why.status()));
    answer.headers().set(HttpHeaderNames.CONTENT_TYPE, OpenAiError.CONTENT_TYPE);
    answer.headers().set(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
    head(answer);
    last(
        exchange.asksForHead()
            ? LastHttpContent.EMPTY_LAST_CONTENT
            : new DefaultLastHttpContent(body));
  }

  /** Nothing was done with it: it may go to any other, or there again if its connection was old. */
  @Override
  public void unprocessed(boolean reused) {
    if (phase == Phase.SENT && reused) {
      connection = null;
      written = false;
      phase = Phase.CONNECTING;
      backends.open(address, false, this);
    } else if (phase == Phase.SENT) {
      connection = null;
      fail(Failure.RESET_UNSENT);
    } else {
      broken(false, reused);
    }
  }

  /** {@link Failure#NO_SOCKET} is the failure that says nothing of the endpoint. */
  @Override
  public void outOfMemory() {
    connection = null;
    switch (phase) {
      case SENT, HEAD, BODY -> fail(Failure.NO_SOCKET);
      case ANSWERING -> exchange.breakOff(Outcome.DISCONNECTED); // the one that blames nobody
      case CONNECTING, FAILED, OVER -> {}
    }
  }

  private boolean wasSentLongAgo() {
    return loop.ticker().nanoTime() - sentAt >= STALE_NANOS;
  }

  private void fail(Failure how) {
    stopWaiting();
    if (phase != Phase.OVER) {
      phase = Phase.FAILED;
      exchange.failed(how);
    }
  }

  /** Nobody wants its answer any more. */
  void abandon() {
    phase = Phase.OVER;
    stopWaiting();
    BackendConnection current = connection;
    connection = null;
    if (current != null) {
      current.abandon();
    }
    for (HttpContent next = held.poll(); next != null; next = held.poll()) {
      next.release();
    }
  }

  private void stopWaiting() {
    if (patience != null) {
      patience.cancel(false);
      patience = null;
    }
  }
}
