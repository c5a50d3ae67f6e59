package io.fairlead.epp.frontend.gateway;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.DefaultHttp2GoAwayFrame;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A client's connection that speaks HTTP/2: counts its streams, each of which is a {@link
 * ClientConnection} of one request, and closes when it had none for a while. On its event loop.
 */
final class Http2Connection extends ChannelInboundHandlerAdapter {

  private static final int STREAMS = 100;
  private static final int WINDOW = 65_535;

  /**
   * A head up to this long is read, and refused as one that is too long. One that is longer than
   * this and a quarter the codec does not read to its end: it ends the connection, with the answers
   * of all others.
   */
  private static final int READABLE_HEADERS = 4 * Framing.MAX_HEADERS;

  /**
   * A client that resets more streams than this in ten seconds, or has as many reset by frames that
   * are wrong, wants to keep us busy. Endpoints that break answers off have us reset streams too,
   * but hardly as many: the 200 in half a minute that are usual are soon reached.
   */
  private static final int RESETS = 1_000;

  private static final int RESETS_WINDOW_SECONDS = 10;

  private final Channel channel;
  private final long patience;
  private final StallGuard stalls;
  private int streams;
  private long since;
  private boolean leaving;
  private boolean draining;
  private @Nullable Future<?> timer;

  /** A connection without streams. */
  Http2Connection(Channel channel, ClientBounds bounds) {
    this.channel = channel;
    patience = bounds.idle().toNanos();
    stalls = new StallGuard(channel, bounds, () -> 0, () -> {}); // its streams know what is made
  }

  /** What makes frames of the bytes. What a stream may send ahead of being read is bounded. */
  static Http2FrameCodec codec(Gateway gateway) {
    return new ClientFrames.Builder(gateway)
        .initialSettings(
            Http2Settings.defaultSettings()
                .maxConcurrentStreams(STREAMS)
                .initialWindowSize(WINDOW)
                .maxHeaderListSize(READABLE_HEADERS))
        .decoderEnforceMaxConsecutiveEmptyDataFrames(EmptyFrames.MOST)
        .decoderEnforceMaxRstFramesPerWindow(RESETS, RESETS_WINDOW_SECONDS)
        .encoderEnforceMaxRstFramesPerWindow(RESETS, RESETS_WINDOW_SECONDS)
        .gracefulShutdownTimeoutMillis(0)
        .build();
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    // A stream that is held back for want of memory must not take the others' window.
    var _ = ctx.writeAndFlush(new DefaultHttp2WindowUpdateFrame((STREAMS - 1) * WINDOW));
    since = now();
    timer = channel.eventLoop().schedule(this::look, patience, TimeUnit.NANOSECONDS);
  }

  /** A stream begins. */
  void opened(Channel stream) {
    streams++;
    stream.closeFuture().addListener(done -> closed());
  }

  private void closed() {
    streams--;
    since = now();
    if (draining && streams == 0) {
      close();
    }
  }

  /** The gateway will end: the client is told to open no more streams, and served if it does. */
  void leave() {
    if (!leaving) {
      leaving = true;
      Http2GoAwayFrame notice = new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR);
      notice.setExtraStreamIds(Integer.MAX_VALUE);
      var _ = channel.writeAndFlush(notice);
    }
  }

  /** No more streams: closes after those that are open. */
  void drain() {
    draining = true;
    var _ = channel.writeAndFlush(new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR));
    if (streams == 0) {
      close();
    }
  }

  /** The last frames, too, are to arrive: the client may be slow, but not stand still. */
  private void close() {
    sent().addListener(ChannelFutureListener.CLOSE);
  }

  /** The answer of a stream waits: for its window, or since its client takes nothing at all. */
  void answerWaits() {
    var _ = sent();
  }

  /** Done once all that was written is out; until then it is watched. */
  private ChannelFuture sent() {
    ChannelFuture sent = channel.writeAndFlush(Unpooled.EMPTY_BUFFER);
    if (!sent.isDone()) {
      stalls.watch(sent);
    }
    return sent;
  }

  private void look() {
    long left = since + patience - now();
    if (streams > 0) {
      left = patience;
    } else if (left <= 0) {
      close();
      return;
    }
    timer = channel.eventLoop().schedule(this::look, left, TimeUnit.NANOSECONDS);
  }

  private long now() {
    return channel.eventLoop().ticker().nanoTime();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object msg) {
    ReferenceCountUtil.release(msg); // settings, pings and the like, which the codec has answered
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    stalls.writabilityChanged();
    ctx.fireChannelWritabilityChanged();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    if (timer != null) {
      timer.cancel(false);
    }
    stalls.stop();
    ctx.fireChannelInactive();
  }

  /** The codec itself says goodbye with the reason, and closes, where a client breaks the rules. */
  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (!(cause instanceof Http2Exception)) {
      var _ = channel.close();
    }
  }
}
