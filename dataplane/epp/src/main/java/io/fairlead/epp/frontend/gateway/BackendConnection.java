package io.fairlead.epp.frontend.gateway;

import io.fairlead.epp.openai.ErrorCodes;
import io.fairlead.epp.openai.OpenAiError;
import io.fairlead.epp.transport.Failures;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A connection to an endpoint, lent to one user at a time. It reads only when asked to, so that a
 * slow client holds its endpoint back. It runs on its event loop, as does the user that it is lent
 * to.
 */
final class BackendConnection extends ChannelInboundHandlerAdapter {

  /** Whom a connection is lent to. */
  interface User {

    /** Here it is. */
    void opened(BackendConnection connection);

    /** There is none to be had. */
    void openFailed(Throwable cause);

    /** All of the request is with the kernel. */
    void written();

    /** The response begins. */
    void head(HttpResponse response);

    /** More of it. Takes ownership. */
    void content(HttpContent content);

    /** The rest of it; the connection is not lent any more. Takes ownership. */
    void last(LastHttpContent content);

    /** What one read brought is told; whether to read on. */
    boolean readyForMore();

    /**
     * The connection is gone before the end of the response.
     *
     * @param byteSeen whether anything came back at all
     * @param reused whether it had served others before: the endpoint may have closed it while idle
     */
    void broken(boolean byteSeen, boolean reused);

    /**
     * The connection is gone, and the endpoint has said of the request that it is wrong, as with an
     * answer of this status. It has given none.
     */
    void refused(OpenAiError why);

    /**
     * The connection is gone, and the endpoint has said that it did nothing with the request.
     *
     * @param reused as in {@link #broken}
     */
    void unprocessed(boolean reused);

    /**
     * The connection is gone before the end of the response, since this process lacks the memory to
     * send or to read: the endpoint has no part in it.
     */
    void outOfMemory();
  }

  /**
   * A longer body is sent in slices of this, each when the kernel has taken the one before: what is
   * written from the heap is copied first.
   */
  private static final int SLICE = 256 << 10;

  /** The same of a stream: what is taken of a slice can't be told from nothing. */
  private static final int STREAM_SLICE = 16 << 10;

  /**
   * How long an answer is waited for where no more of a request can be sent. One that was given
   * before is there already, or on its way.
   */
  private static final long HEAR_OUT_MILLIS = 500;

  private final BackendPool pool;
  private final InetSocketAddress address;
  private final Channel channel;

  /** Null of a stream of HTTP/2. */
  private final @Nullable AnswerDecoder decoder;

  /** A piece that is missing would leave a hole in a request that looks whole. */
  private final ChannelFutureListener pieces = this::wrote;

  private @Nullable User user;
  private @Nullable ChannelFuture written;

  /** What the kernel has not been given yet of a body that goes in slices. */
  private @Nullable ByteBuf unsent;

  private HttpHeaders trailers = EmptyHttpHeaders.INSTANCE;

  /** A flush that makes room tells so at once: without this, each slice would be a call deeper. */
  private boolean sending;

  private boolean reused;
  private boolean byteSeen;

  /** Whether the endpoint has said that it did not begin with the request. */
  private boolean notBegunWith;

  /** What the endpoint has against the request, which it gives no answer to. */
  private @Nullable OpenAiError refusal;

  private boolean outOfMemory;
  private boolean interim;

  /** Whether the head of an answer has come that is no interim one. */
  private boolean answering;

  /**
   * Whether no more of the request can be sent: what has come of an answer is read all the same.
   */
  private boolean unsendable;

  private boolean keepAlive;
  private long idleSince;

  BackendConnection(BackendPool pool, InetSocketAddress address, Channel channel) {
    this.pool = pool;
    this.address = address;
    this.channel = channel;
    decoder = channel.pipeline().get(AnswerDecoder.class);
  }

  InetSocketAddress address() {
    return address;
  }

  boolean isActive() {
    return channel.isActive();
  }

  /** It is handed out again. */
  void reuse() {
    reused = true;
  }

  /**
   * Goes before the decoder: sees a first byte that the decoder makes nothing of yet, and those
   * that nobody asked for.
   */
  ChannelHandler byteWatch() {
    return new ChannelInboundHandlerAdapter() {
      @Override
      public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (user == null) {
          ReferenceCountUtil.release(msg);
          var _ = channel.close(); // it would be taken for the beginning of the next answer
        } else {
          byteSeen = true;
          ctx.fireChannelRead(msg);
        }
      }
    };
  }

  long idleSince() {
    return idleSince;
  }

  void idleSince(long nanos) {
    idleSince = nanos;
  }

  void read() {
    channel.read();
  }

  /** Sends a request whose response goes to {@code sender}. Takes ownership of the request. */
  void send(FullHttpRequest request, User sender) {
    user = sender;
    byteSeen = false;
    answering = false;
    written = null;
    if (decoder != null) {
      decoder.expect(request.method());
    }
    if (request.content().readableBytes() <= slice()) {
      last(channel.writeAndFlush(request), sender);
    } else {
      unsent = request.content();
      trailers = request.trailingHeaders();
      var _ =
          channel
              .write(
                  new DefaultHttpRequest(
                      request.protocolVersion(),
                      request.method(),
                      request.uri(),
                      request.headers()))
              .addListener(pieces);
      sendMore(sender);
    }
    channel.read();
  }

  private void last(ChannelFuture future, User sender) {
    written =
        future.addListener(
            done -> {
              wrote(done);
              if (done.isSuccess() && sender.equals(user)) {
                sender.written();
              }
            });
  }

  private void wrote(Future<?> done) {
    if (done.isSuccess()) {
      return;
    }
    if (user == null || done.cause() instanceof ClosedChannelException) {
      var _ = channel.close(); // told to the user by channelInactive: an answer may end with it
    } else if (done.cause() instanceof IOException) {
      hearOut(user);
    } else {
      breakOff(done.cause());
    }
  }

  /**
   * The endpoint takes no more of the request. It may have answered and closed: that answer waits
   * to be read, and a close would throw it away.
   */
  private void hearOut(User sender) {
    dropUnsent();
    if (unsendable) {
      return; // another piece of the same request
    }
    unsendable = true;
    var _ =
        channel
            .eventLoop()
            .schedule(
                () -> {
                  if (sender.equals(user) && !answering) {
                    breakOff();
                  }
                },
                HEAR_OUT_MILLIS,
                TimeUnit.MILLISECONDS);
  }

  private void breakOff(Throwable cause) {
    if (Failures.isOutOfMemory(cause)) {
      outOfMemory = true;
      pool.tellOutOfMemory(cause);
    }
    judge(cause);
    breakOff();
  }

  /** A head that is longer than the endpoint has said that it takes is not sent to it. */
  private void judge(Throwable cause) {
    if (cause instanceof Http2Exception.HeaderListSizeException tooLong
        && !tooLong.duringDecode()) {
      refusal =
          Target.error(
              431,
              ErrorCodes.HEADER_FIELDS_TOO_LARGE,
              "The headers are longer than the model server takes.");
    }
  }

  /** It is good for nothing more. The user hears of it first: a close may look like an end. */
  private void breakOff() {
    User left = user;
    user = null;
    dropUnsent();
    if (left != null) {
      tellBroken(left);
    }
    var _ = channel.close();
  }

  private void sendMore(User sender) {
    if (sending) {
      return;
    }
    sending = true;
    for (ByteBuf rest = unsent; rest != null && channel.isWritable(); rest = unsent) {
      ByteBuf slice = rest.readRetainedSlice(Math.min(slice(), rest.readableBytes()));
      if (rest.isReadable()) {
        var _ = channel.writeAndFlush(new DefaultHttpContent(slice)).addListener(pieces);
      } else {
        dropUnsent();
        LastHttpContent end = new DefaultLastHttpContent(slice);
        end.trailingHeaders().set(trailers);
        last(channel.writeAndFlush(end), sender);
      }
    }
    sending = false;
  }

  private int slice() {
    return isStream() ? STREAM_SLICE : SLICE;
  }

  private void dropUnsent() {
    if (unsent != null) {
      unsent.release();
      unsent = null;
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    if (user == null) {
      dropUnsent();
    } else {
      sendMore(user);
    }
  }

  /** The user is gone before its response: nobody listens any more. */
  void abandon() {
    user = null;
    var _ = channel.close();
  }

  /** Gives back a connection that was not used. */
  void giveBack() {
    if (isStream()) {
      close();
    } else {
      pool.release(this);
    }
  }

  /** Whether it is a stream of a connection of HTTP/2, which has no next request. */
  private boolean isStream() {
    return channel instanceof Http2StreamChannel;
  }

  void close() {
    var _ = channel.close();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object msg) {
    if (!(msg instanceof HttpObject object)) {
      ReferenceCountUtil.release(msg); // a frame that is no part of an answer
      return;
    }
    User to = user;
    if (to == null || object.decoderResult().isFailure()) {
      ReferenceCountUtil.release(msg);
      var _ = channel.close(); // nobody asked, or it can't be understood
      return;
    }
    if (msg instanceof HttpResponse response) {
      if (response.status().code() < 100 || !Framing.isPlain(response)) {
        ReferenceCountUtil.release(msg);
        breakOff(); // there is no such status, or what follows can't be read
        return;
      }
      head(response, to);
    }
    if (msg instanceof HttpContent content) {
      content(withoutHead(content), to);
    }
  }

  /** Of an answer of HTTP/2 that is all head the codec makes a head and an end in one. */
  private static HttpContent withoutHead(HttpContent content) {
    return content instanceof HttpResponse
        ? new DefaultLastHttpContent(content.content())
        : content;
  }

  private void head(HttpResponse response, User to) {
    interim = response.status().code() < 200;
    if (response.status().code() == 101) {
      var _ = channel.close(); // nobody asked to switch protocols
    }
    if (!interim) {
      answering = true;
      keepAlive = HttpUtil.isKeepAlive(response) && !isStream();
      if (response.status().code() >= 300) {
        dropUnsent(); // it is decided: nobody needs the rest, and the connection is not lent again
      }
      to.head(response);
    }
  }

  private void content(HttpContent content, User to) {
    boolean last = content instanceof LastHttpContent;
    if (interim) {
      interim = !last;
      content.release();
    } else if (!answering) {
      content.release();
      breakOff(); // a body without a head
    } else if (!last) {
      to.content(content);
    } else if (unsendable && !channel.isActive()) {
      // Without a length it ends where the connection does. Whether that was a reset was told to
      // the write that failed, and is not told again: it may not be whole.
      content.release();
    } else {
      user = null;
      if (isReusable()) {
        pool.release(this);
      } else {
        var _ = channel.close();
      }
      to.last((LastHttpContent) content);
    }
  }

  private boolean isReusable() {
    return keepAlive
        && written != null
        && written.isSuccess()
        && channel.isActive()
        && (decoder == null || !decoder.holdsMore());
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    if (user == null || user.readyForMore()) {
      channel.read();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    User left = user;
    user = null;
    dropUnsent();
    if (left == null) {
      pool.forget(this);
    } else {
      tellBroken(left);
    }
  }

  private void tellBroken(User left) {
    if (refusal != null) {
      left.refused(refusal);
    } else if (outOfMemory) {
      left.outOfMemory();
    } else if (notBegunWith && !byteSeen) {
      left.unprocessed(reused);
    } else {
      left.broken(byteSeen, reused);
    }
  }

  /**
   * A stream is told of a GOAWAY if it is none of those that the endpoint has begun with. With any
   * other reset than a refusal the endpoint has had the request, as if a byte had come. Servers and
   * proxies reset with PROTOCOL_ERROR before any answer what is malformed to them, and nothing
   * else: where they fail themselves, or what is behind them, they answer, or say INTERNAL_ERROR.
   */
  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof Http2ResetFrame reset
        && reset.errorCode() != Http2Error.REFUSED_STREAM.code()) {
      if (!byteSeen && reset.errorCode() == Http2Error.PROTOCOL_ERROR.code()) {
        refusal =
            Target.error(
                400,
                ErrorCodes.INVALID_HTTP,
                "The model server takes the request for malformed: look at its path, query and"
                    + " headers.");
      }
      byteSeen = true;
    } else {
      notBegunWith |= event instanceof Http2GoAwayFrame || event instanceof Http2ResetFrame;
    }
    ctx.fireUserEventTriggered(event);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    byteSeen |= cause instanceof Http2Exception; // an answer that the codec makes nothing of
    breakOff(cause); // not by channelInactive: what has no length ends there as if it were whole
  }
}
