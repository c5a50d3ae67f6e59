package io.fairlead.epp.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.util.ReferenceCountUtil;
import java.io.Closeable;
import java.net.InetAddress;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A client that knows its server to speak HTTP/2, and shows what becomes of each stream. */
public final class Http2Client implements Closeable {

  public final Queue<Integer> goAways = new ConcurrentLinkedQueue<>();
  public final Channel channel;
  private final @Nullable EventLoopGroup own;

  public Http2Client(int port) {
    this(port, new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory()), true);
  }

  /** One of many that share their threads. */
  public Http2Client(int port, EventLoopGroup group) {
    this(port, group, false);
  }

  private Http2Client(int port, EventLoopGroup group, boolean owned) {
    own = owned ? group : null;
    channel =
        new Bootstrap()
            .group(group)
            .channel(NioSocketChannel.class)
            .handler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel ch) {
                    ch.pipeline()
                        .addLast(
                            Http2FrameCodecBuilder.forClient()
                                .initialSettings(Http2Settings.defaultSettings().pushEnabled(false))
                                .gracefulShutdownTimeoutMillis(0)
                                .build())
                        .addLast(new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()))
                        .addLast(new Connection());
                  }
                })
            .connect(InetAddress.getLoopbackAddress(), port)
            .syncUninterruptibly()
            .channel();
    // A stream that is not read is not to hold the others back.
    channel.writeAndFlush(new DefaultHttp2WindowUpdateFrame(1 << 24)).syncUninterruptibly();
  }

  private final class Connection extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
      if (msg instanceof Http2GoAwayFrame frame) {
        goAways.add(frame.lastStreamId());
      }
      ReferenceCountUtil.release(msg);
    }
  }

  /** A request of JSON. */
  public static FullHttpRequest post(String path, String json) {
    FullHttpRequest request =
        new DefaultFullHttpRequest(
            HttpVersion.HTTP_1_1, HttpMethod.POST, path, Unpooled.copiedBuffer(json, UTF_8));
    request.headers().set("host", "h2.example").set("content-type", "application/json");
    return request;
  }

  public static FullHttpRequest get(String path) {
    FullHttpRequest request =
        new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, path);
    request.headers().set("host", "h2.example");
    return request;
  }

  /** Sends a request on a stream of its own. */
  public Call call(Object... messages) throws InterruptedException {
    return open(true, messages);
  }

  /** The same, and takes nothing of what comes back. */
  public Call callWithoutReading(Object... messages) throws InterruptedException {
    return open(false, messages);
  }

  private Call open(boolean reading, Object... messages) throws InterruptedException {
    Call call = new Call();
    Http2StreamChannel stream =
        new Http2StreamChannelBootstrap(channel)
            .option(ChannelOption.AUTO_READ, reading)
            .handler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel ch) {
                    ch.pipeline().addLast(new Http2StreamFrameToHttpObjectCodec(false), call);
                  }
                })
            .open()
            .syncUninterruptibly()
            .getNow();
    call.stream = stream;
    for (Object message : messages) {
      var _ = stream.writeAndFlush(message);
    }
    return call;
  }

  /** What becomes of a request. */
  public static final class Call extends ChannelInboundHandlerAdapter {

    public volatile int status;
    public volatile @Nullable HttpHeaders headers;
    public volatile @Nullable HttpHeaders trailers;
    public volatile @Nullable Http2Error reset;
    public final Queue<String> pieces = new ConcurrentLinkedQueue<>();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile @Nullable Channel stream;

    public String body() {
      return String.join("", pieces);
    }

    public String header(String name) {
      HttpHeaders all = headers;
      return all == null ? "" : all.get(name, "");
    }

    /** Waits for the whole answer, or for the end of the stream without one. */
    public Call await() throws InterruptedException {
      if (!ended.await(20, TimeUnit.SECONDS)) {
        throw new IllegalStateException("neither an answer nor its end came");
      }
      return this;
    }

    /** Waits for the head of the answer, or for the end of the stream without one. */
    public void awaitHead() throws InterruptedException {
      if (!begun.await(20, TimeUnit.SECONDS)) {
        throw new IllegalStateException("neither the head of an answer nor its end came");
      }
    }

    public void reset() {
      Channel of = stream;
      if (of != null) {
        var _ = of.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.CANCEL));
        of.config().setAutoRead(true); // what has come is taken, and released
      }
    }

    public void write(HttpContent content) {
      Channel of = stream;
      if (of != null) {
        var _ = of.writeAndFlush(content);
      }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
      if (msg instanceof HttpObject) {
        if (msg instanceof HttpResponse response) {
          status = response.status().code();
          headers = response.headers().copy();
          begun.countDown();
        }
        if (msg instanceof HttpContent content && content.content().isReadable()) {
          pieces.add(content.content().toString(UTF_8));
        }
        if (msg instanceof LastHttpContent last && status >= 200) {
          trailers = last.trailingHeaders().copy();
          ended.countDown();
        }
      }
      ReferenceCountUtil.release(msg);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
      if (event instanceof Http2ResetFrame frame) {
        reset = Http2Error.valueOf(frame.errorCode());
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
      begun.countDown();
      ended.countDown();
    }
  }

  @Override
  public void close() {
    channel.close().syncUninterruptibly();
    if (own != null) {
      own.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    }
  }
}
