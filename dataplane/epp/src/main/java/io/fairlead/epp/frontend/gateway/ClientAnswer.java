package io.fairlead.epp.frontend.gateway;

import io.fairlead.core.Route;
import io.fairlead.epp.openai.OpenAiError;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What goes back to a client: answers of ours, and an endpoint's as it comes. Knows whether the
 * connection outlives the answer. On the loop of the connection.
 */
final class ClientAnswer {

  private static final HttpRequest NONE =
      new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");

  private static final byte[] EMPTY = {};

  /** As long as a client has to take an answer in that it did not wait for. */
  private static final long LINGER_MILLIS = 1_000;

  private final Gateway gateway;
  private final Channel channel;

  private HttpRequest head = NONE;
  private String requestId = "";
  private boolean keepAlive;

  /** Whether the response has no other end than that of the connection. */
  private boolean endsWithConnection;

  /** Whether the connection is a stream of one of HTTP/2, which has no next request. */
  private final boolean stream;

  private @Nullable ChannelFuture written;

  private long made;

  /** A piece that is missing would leave a hole in an answer that looks whole. */
  private final ChannelFutureListener pieces = this::wrote;

  ClientAnswer(Gateway gateway, Channel channel) {
    this.gateway = gateway;
    this.channel = channel;
    stream = channel instanceof Http2StreamChannel;
  }

  /** What is answered from now on is for this request. */
  void to(HttpRequest request) {
    head = request;
    keepAlive = HttpUtil.isKeepAlive(request);
    requestId = gateway.requestId(request.headers().get(HeaderRules.REQUEST_ID, ""));
  }

  HttpRequest head() {
    return head;
  }

  /** All of it is written. The request is not held in memory until the next one comes. */
  void over() {
    head = NONE;
  }

  String requestId() {
    return requestId;
  }

  /** Whether the connection is good for another request after this one. */
  boolean keepsAlive() {
    return keepAlive && (stream || !gateway.refusing());
  }

  /** The connection is not good for another request. */
  void endConnection() {
    keepAlive = false;
  }

  /** The client may send its body. */
  void goOn() {
    var _ = put(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
    channel.flush();
  }

  /** An error of ours. */
  void error(OpenAiError error) {
    HttpHeaders headers = HeaderRules.none();
    headers.set(OpenAiError.REASON_HEADER, error.code());
    if (error.retryAfterSeconds() >= 0) {
      headers.set(HttpHeaderNames.RETRY_AFTER, error.retryAfterSeconds());
    }
    String path = Target.path(head.uri());
    Target target = error.status() == 405 ? Target.of(path) : null;
    if (target != null) {
      headers.set(HttpHeaderNames.ALLOW, target.allowed());
    }
    full(error.status(), error.body(path), headers);
  }

  /** An answer of ours. */
  void json(int status, byte[] content) {
    full(status, content, HeaderRules.none());
  }

  /** A browser is told that its page may call. */
  void mayCall(Target target) {
    full(200, EMPTY, gateway.config().origins().answer(head, target));
  }

  private void full(int status, byte[] content, HttpHeaders headers) {
    if (content.length > 0) {
      headers.set(HttpHeaderNames.CONTENT_TYPE, OpenAiError.CONTENT_TYPE);
    }
    headers.set(HttpHeaderNames.CONTENT_LENGTH, content.length);
    gateway.config().origins().addTo(headers, head);
    if (!requestId.isEmpty()) {
      headers.set(HeaderRules.REQUEST_ID, requestId);
    }
    connectionHeader(headers);
    boolean empty = head.method().equals(HttpMethod.HEAD); // which is told the length all the same
    written =
        put(
            new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1,
                HttpResponseStatus.valueOf(status),
                empty ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(content),
                headers,
                EmptyHttpHeaders.INSTANCE));
    channel.flush();
  }

  private void connectionHeader(HttpHeaders headers) {
    if (stream) {
      return; // it is the connection around it that is told
    }
    keepAlive &= !gateway.leaving();
    if (!keepAlive) {
      headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    } else if (head.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
      headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
    }
  }

  /** The endpoint's response begins; {@code added} are headers of our own. */
  void begin(HttpResponse from, List<Route.Header> added) {
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
    connectionHeader(headers);
    written = put(new DefaultHttpResponse(HttpVersion.HTTP_1_1, from.status(), headers));
  }

  /** More of the endpoint's response. Takes ownership. */
  void write(HttpContent content) {
    if (content instanceof LastHttpContent last) {
      HeaderRules.filterTrailers(last.trailingHeaders());
    }
    written = put(content);
  }

  private ChannelFuture put(Object message) {
    long before = StallGuard.waiting(channel);
    ChannelFuture put = channel.write(message);
    made += StallGuard.waiting(channel) - before;
    return put.addListener(pieces);
  }

  /** Bytes that were written so far, as they count while they wait for the client. */
  long made() {
    return made;
  }

  /** Done once all that was written is with the kernel; null where it is. */
  @Nullable ChannelFuture unsent() {
    ChannelFuture last = written;
    return last == null || last.isDone() ? null : last;
  }

  /** Lets out what was written; whether there is room for more. */
  boolean flush() {
    channel.flush();
    return channel.isWritable();
  }

  /** The response can't be finished: the connection ends so that it isn't taken for whole. */
  void breakOff() {
    closeIsNoEnd();
    end(Http2Error.INTERNAL_ERROR);
  }

  private void closeIsNoEnd() {
    if (endsWithConnection) {
      // An ordinary close would be the response's proper end.
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
    }
  }

  private void wrote(Future<?> done) {
    if (!done.isSuccess() && !(done.cause() instanceof ClosedChannelException)) {
      closeIsNoEnd();
      endNow(Http2Error.INTERNAL_ERROR);
    }
  }

  /** Closes the connection once what was written is out. */
  void close() {
    end(Http2Error.NO_ERROR);
  }

  /**
   * Closes a connection whose client may be sending still: once it has the answer, or soon. A close
   * while something of it is unread would throw the answer away, so that what comes is to be read
   * and dropped until then.
   */
  void closeLate() {
    if (stream) {
      close(); // which is told by a frame, after the answer
      return;
    }
    channel.flush();
    ChannelFuture last = unsent();
    if (last == null) {
      linger();
    } else {
      last.addListener(done -> linger());
    }
  }

  private void linger() {
    if (channel instanceof SocketChannel socket
        && channel.pipeline().get(SslHandler.class) == null) {
      var _ = socket.shutdownOutput(); // who waits for the end of the connection has it at once
    }
    var _ =
        channel
            .eventLoop()
            .schedule(
                () -> {
                  var _ = channel.close();
                },
                LINGER_MILLIS,
                TimeUnit.MILLISECONDS);
  }

  /** Nothing more is sent on this stream of HTTP/2; its client is told why. */
  void reset(Http2Error why) {
    endNow(why);
  }

  private void end(Http2Error why) {
    channel.flush();
    ChannelFuture last = unsent();
    if (last == null) {
      endNow(why);
    } else {
      last.addListener(done -> endNow(why));
    }
  }

  private void endNow(Http2Error why) {
    if (stream && channel.isActive()) {
      var _ =
          channel
              .writeAndFlush(new DefaultHttp2ResetFrame(why))
              .addListener(ChannelFutureListener.CLOSE);
    } else {
      var _ = channel.close();
    }
  }
}
