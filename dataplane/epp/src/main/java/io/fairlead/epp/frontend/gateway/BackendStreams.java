package io.fairlead.epp.frontend.gateway;

import io.fairlead.epp.tls.EndpointTls;
import io.fairlead.epp.transport.Transport;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2SettingsFrame;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One event loop's connections to an endpoint that speaks HTTP/2. Hands out their streams, each as
 * a connection for one request; makes another connection when those that are there are full. Not
 * thread-safe: owned by its loop.
 */
final class BackendStreams {

  private static final int STREAMS = 100;
  private static final int WINDOW = 65_535;

  private final BackendPool pool;
  private final InetSocketAddress address;
  private final Bootstrap bootstrap;
  private final EventLoop loop;
  private final long idleNanos;
  private final Duration stall;
  private final List<Shared> usable = new ArrayList<>();

  /**
   * No connections yet.
   *
   * @param bootstrap for one, but for its handler
   * @param idleNanos after which one without streams is closed
   * @param stall after which a stream fails of which the endpoint takes nothing; nor are others
   *     opened then on its connection
   */
  BackendStreams(
      BackendPool pool,
      InetSocketAddress address,
      Bootstrap bootstrap,
      EventLoop loop,
      long idleNanos,
      Duration stall) {
    this.pool = pool;
    this.address = address;
    this.bootstrap = bootstrap;
    this.loop = loop;
    this.idleNanos = idleNanos;
    this.stall = stall;
  }

  /** Opens a stream for {@code user}, who is told at once or later. */
  void open(boolean mayReuse, BackendConnection.User user) {
    if (mayReuse) {
      for (Shared connection : usable) {
        if (connection.hasRoom()) {
          connection.open(user);
          return;
        }
      }
    }
    Shared fresh = new Shared();
    usable.add(fresh);
    fresh.open(user);
    fresh.connect();
  }

  /** No more streams: connections close after those that are open. */
  void retire() {
    List.copyOf(usable).forEach(Shared::retire);
  }

  /** Makes frames of what endpoints send. */
  private static final class Codec extends Http2FrameCodecBuilder {

    Codec() {
      server(false);
    }

    @Override
    protected Http2FrameCodec build(
        Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
      return super.build(new LateFrames(new EmptyFrames(decoder)), encoder, settings);
    }
  }

  /** A connection with many streams. */
  private final class Shared extends ChannelInboundHandlerAdapter {

    private final ArrayDeque<BackendConnection.User> waiting = new ArrayDeque<>();
    private @Nullable Channel channel;
    private boolean connected;
    private boolean served;
    private int streams;
    private int limit = STREAMS;
    private long idleSince;
    private @Nullable Future<?> nextLook;

    private Channel channel() {
      if (channel == null) {
        throw new IllegalStateException("not connected");
      }
      return channel;
    }

    boolean hasRoom() {
      return streams + waiting.size() < limit;
    }

    void connect() {
      Transport.connectLater(
          bootstrap
              .clone()
              .option(ChannelOption.AUTO_READ, true)
              .option(ChannelOption.AUTO_CLOSE, true) // whoever writes on it is told at once
              .handler(
                  new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                      setUp(ch);
                    }
                  }),
          loop,
          address,
          mine -> {
            channel = mine;
            pool.agree(mine, EndpointTls.Protocol.HTTP_2, this::connected);
          },
          this::connected);
    }

    private void connected(@Nullable Throwable failure) {
      connected = failure == null;
      if (!connected) {
        usable.remove(this);
      }
      for (BackendConnection.User u = waiting.poll(); u != null; u = waiting.poll()) {
        if (failure == null) {
          stream(u);
        } else {
          u.openFailed(failure);
        }
      }
    }

    private void setUp(Channel ch) {
      pool.secure(ch, address, EndpointTls.Protocol.HTTP_2);
      ch.pipeline()
          .addLast(
              new Codec()
                  .initialSettings(
                      Http2Settings.defaultSettings()
                          .pushEnabled(false)
                          .initialWindowSize(WINDOW)
                          .maxHeaderListSize(65_536))
                  .decoderEnforceMaxConsecutiveEmptyDataFrames(EmptyFrames.MOST)
                  .gracefulShutdownTimeoutMillis(0)
                  .build())
          .addLast(new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()))
          .addLast(this);
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
      // One answer that its client takes slowly must not hold the others back.
      var _ = ctx.writeAndFlush(new DefaultHttp2WindowUpdateFrame((STREAMS - 1) * WINDOW));
    }

    void open(BackendConnection.User user) {
      if (connected) {
        stream(user);
      } else {
        waiting.add(user);
      }
    }

    private void stream(BackendConnection.User user) {
      streams++;
      boolean reused = served;
      served = true;
      new Http2StreamChannelBootstrap(channel())
          .option(ChannelOption.AUTO_READ, false)
          .handler(new ChannelInboundHandlerAdapter())
          .open()
          .addListener(
              (Future<Http2StreamChannel> done) -> {
                if (!done.isSuccess()) {
                  ended();
                  user.openFailed(done.cause());
                  return;
                }
                Http2StreamChannel stream = done.getNow();
                stream.closeFuture().addListener(closed -> ended());
                BackendConnection opened = new BackendConnection(pool, address, stream);
                if (reused) {
                  opened.reuse();
                }
                stream
                    .pipeline()
                    .addLast(new StalledSends(stall, this::retire))
                    .addLast(opened.byteWatch())
                    .addLast(Http2Heads.ofAnswers())
                    .addLast(new Http2StreamFrameToHttpObjectCodec(false))
                    .addLast(opened);
                user.opened(opened);
              });
    }

    private void ended() {
      streams--;
      if (streams > 0) {
        return;
      }
      idleSince = loop.ticker().nanoTime();
      if (!usable.contains(this)) {
        var _ = channel().close();
      } else if (nextLook == null) {
        lookIn(idleNanos); // else a look is due, and goes by when it was last used
      }
    }

    private void lookIn(long nanos) {
      nextLook = loop.schedule(this::look, nanos, TimeUnit.NANOSECONDS);
    }

    private void look() {
      nextLook = null;
      if (streams > 0) {
        return; // the last of them sees to it
      }
      long left = idleSince + idleNanos - loop.ticker().nanoTime();
      if (left <= 0) {
        retire();
      } else {
        lookIn(left);
      }
    }

    void retire() {
      usable.remove(this);
      if (streams == 0 && waiting.isEmpty()) {
        var _ = channel().close();
      }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
      if (msg instanceof Http2GoAwayFrame) {
        retire();
      } else if (msg instanceof Http2SettingsFrame frame) {
        Long most = frame.settings().maxConcurrentStreams();
        if (most != null) {
          limit = (int) Math.min(STREAMS, most);
        }
      }
      ReferenceCountUtil.release(msg);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
      usable.remove(this);
      ctx.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      var _ = ctx.close(); // told to the streams
    }
  }
}
