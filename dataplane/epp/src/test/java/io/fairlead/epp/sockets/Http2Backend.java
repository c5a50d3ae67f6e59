package io.fairlead.epp.sockets;

import io.fairlead.core.EndpointSpec;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2FrameLogger;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.logging.LogLevel;
import io.netty.handler.ssl.SslContext;
import io.netty.util.ReferenceCountUtil;
import java.io.Closeable;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A model server that speaks HTTP/2 only. */
public final class Http2Backend implements Closeable {

  /** Answers a request, on the server's loop. */
  public interface Script {
    void serve(Channel stream, FullHttpRequest request);
  }

  public final String name;
  public final Queue<FullHttpRequest> requests = new ConcurrentLinkedQueue<>();
  public final Queue<Channel> connections = new ConcurrentLinkedQueue<>();
  public final AtomicInteger closed = new AtomicInteger();

  /** Which streams were reset, once for each time. */
  public final Queue<Integer> resets = new ConcurrentLinkedQueue<>();

  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final Channel server;

  public Http2Backend(String name, int streams, Script script) {
    this(name, streams, null, script);
  }

  /** One that is spoken to over TLS. */
  public Http2Backend(String name, int streams, @Nullable SslContext tls, Script script) {
    this(name, Http2Settings.defaultSettings().maxConcurrentStreams(streams), tls, script);
  }

  /** One that asks this of its clients. */
  public Http2Backend(String name, Http2Settings settings, Script script) {
    this(name, settings, null, script);
  }

  private Http2Backend(
      String name, Http2Settings settings, @Nullable SslContext tls, Script script) {
    this.name = name;
    server =
        new ServerBootstrap()
            .group(group)
            .channel(NioServerSocketChannel.class)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel ch) {
                    connections.add(ch);
                    if (tls != null) {
                      ch.pipeline().addLast(tls.newHandler(ch.alloc()));
                    }
                    ch.pipeline()
                        .addLast(
                            Http2FrameCodecBuilder.forServer()
                                .frameLogger(new Resets())
                                .initialSettings(settings)
                                .gracefulShutdownTimeoutMillis(0)
                                .build())
                        .addLast(new Http2MultiplexHandler(streams(script)))
                        .addLast(new Rest());
                  }
                })
            .bind(InetAddress.getLoopbackAddress(), 0)
            .syncUninterruptibly()
            .channel();
  }

  private ChannelInitializer<Channel> streams(Script script) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel stream) {
        stream.closeFuture().addListener(done -> closed.incrementAndGet());
        stream
            .pipeline()
            .addLast(new Http2StreamFrameToHttpObjectCodec(true))
            .addLast(new HttpObjectAggregator(1 << 24))
            .addLast(
                new SimpleChannelInboundHandler<FullHttpRequest>() {
                  @Override
                  protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest msg) {
                    FullHttpRequest kept = msg.replace(Unpooled.copiedBuffer(msg.content()));
                    requests.add(kept);
                    script.serve(stream, kept);
                  }

                  @Override
                  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                    var _ = ctx.close(); // a request that its client left in the middle, say
                  }
                });
      }
    };
  }

  /** Is told of each frame that comes, also of streams that are over. */
  private final class Resets extends Http2FrameLogger {

    Resets() {
      super(LogLevel.TRACE);
    }

    @Override
    public void logRstStream(
        Direction direction, ChannelHandlerContext ctx, int streamId, long errorCode) {
      if (direction == Direction.INBOUND) {
        resets.add(streamId);
      }
    }
  }

  private static final class Rest extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
      ReferenceCountUtil.release(msg);
    }
  }

  public EndpointSpec spec() {
    int port = ((InetSocketAddress) server.localAddress()).getPort();
    return new EndpointSpec(name, "1", "127.0.0.1", port, Map.of());
  }

  @Override
  public void close() {
    server.close().syncUninterruptibly();
    for (Channel connection : connections) {
      var _ = connection.close();
    }
    group.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }
}
