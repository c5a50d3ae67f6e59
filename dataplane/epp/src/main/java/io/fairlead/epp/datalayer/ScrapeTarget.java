package io.fairlead.epp.datalayer;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One endpoint being scraped: at every tick it begins a scrape, unless one is under way. Failures
 * in a row make it skip more and more ticks, up to about two seconds.
 *
 * <p>Confined to its event loop, except {@link #refuses}, {@link #start} and {@link #stop}.
 */
final class ScrapeTarget {

  private static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** No engine writes that much; a server that does is not read to its end. */
  private static final int MAX_PAGE_BYTES = 16 * 1024 * 1024;

  private final MetricsScraper scraper;
  private final EndpointSpec endpoint;
  private final EventLoop loop;
  private final Bootstrap bootstrap;
  private final PrometheusPage page;
  private final String host;

  private volatile boolean refuses;

  private @Nullable Future<?> ticks;
  private @Nullable Channel channel;
  private boolean stopped;
  private boolean busy;
  private long begunAt;
  private long goodAt;
  private boolean believed;
  private int failuresInRow;
  private long skip;

  ScrapeTarget(MetricsScraper scraper, EndpointSpec endpoint, EventLoop loop, Bootstrap bootstrap) {
    this.scraper = scraper;
    this.endpoint = endpoint;
    this.loop = loop;
    this.bootstrap = bootstrap;
    page = new PrometheusPage(scraper.settings().mapping());
    host =
        endpoint.address().indexOf(':') >= 0
            ? "[" + endpoint.address() + "]:" + endpoint.port()
            : endpoint.address() + ":" + endpoint.port();
    bootstrap.handler(
        new ChannelInitializer<Channel>() {
          @Override
          protected void initChannel(Channel ch) {
            ch.pipeline().addLast(new HttpClientCodec(), new Reader());
          }
        });
  }

  boolean sameProcess(EndpointSpec other) {
    return endpoint.incarnation().equals(other.incarnation())
        && endpoint.address().equals(other.address())
        && endpoint.port() == other.port();
  }

  /** Whether the last attempt got no connection. */
  boolean refuses() {
    return refuses;
  }

  void start() {
    loop.execute(
        () -> {
          if (!stopped) {
            long interval = scraper.settings().interval().toNanos();
            ticks = loop.scheduleAtFixedRate(this::tick, 0, interval, TimeUnit.NANOSECONDS);
          }
        });
  }

  void stop() {
    loop.execute(
        () -> {
          stopped = true;
          if (ticks != null) {
            ticks.cancel(false);
          }
          disconnect();
        });
  }

  private void tick() {
    long now = scraper.now();
    if (busy) {
      if (now - begunAt >= scraper.settings().timeout().toNanos()) {
        fail();
      }
      return;
    }
    if (skip > 0) {
      skip--;
      return;
    }
    busy = true;
    begunAt = now;
    if (channel != null && channel.isActive()) {
      ask(channel);
    } else {
      connect();
    }
  }

  private void connect() {
    ChannelFuture connecting =
        bootstrap.connect(new InetSocketAddress(endpoint.address(), endpoint.port()));
    Channel mine = connecting.channel();
    channel = mine;
    connecting.addListener(
        done -> {
          if (!mine.equals(channel)) {
            var _ = mine.close();
          } else if (done.isSuccess()) {
            refuses = false;
            ask(mine);
          } else {
            refuses = true;
            fail();
          }
        });
  }

  private void ask(Channel to) {
    var request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, path());
    request
        .headers()
        .set(HttpHeaderNames.HOST, host)
        .set(HttpHeaderNames.ACCEPT, HttpHeaderValues.TEXT_PLAIN);
    page.reset();
    var _ = to.writeAndFlush(request);
  }

  private String path() {
    return scraper.settings().path();
  }

  private void succeed(EndpointMetrics metrics) {
    busy = false;
    failuresInRow = 0;
    goodAt = scraper.now();
    believed = true;
    scraper.succeeded(endpoint, begunAt, metrics);
  }

  private void fail() {
    busy = false;
    disconnect();
    if (stopped) {
      return;
    }
    scraper.failed();
    failuresInRow = Math.min(failuresInRow + 1, 16);
    long most = MAX_PAUSE_NANOS / scraper.settings().interval().toNanos();
    skip = Math.min(most, (1L << failuresInRow) - 2);
    if (believed && scraper.now() - goodAt >= scraper.settings().stale().toNanos()) {
      believed = false;
      scraper.succeeded(endpoint, begunAt, EndpointMetrics.UNKNOWN);
    }
  }

  private void disconnect() {
    Channel old = channel;
    channel = null;
    if (old != null) {
      var _ = old.close();
    }
  }

  /** Reads the answers of one connection. */
  private final class Reader extends SimpleChannelInboundHandler<HttpObject> {

    private boolean usable;
    private boolean answering;
    private boolean used;
    private int bytes;

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject message) {
      if (!context.channel().equals(channel) || !busy) {
        var _ = context.close();
        return;
      }
      if (message.decoderResult().isFailure()) {
        fail();
        return;
      }
      if (message instanceof HttpResponse response) {
        answering = true;
        usable = response.status().code() == 200;
        bytes = 0;
      }
      if (message instanceof HttpContent content) {
        take(content.content());
        if (bytes > MAX_PAGE_BYTES) {
          fail();
        } else if (message instanceof LastHttpContent) {
          end();
        }
      }
    }

    private void take(ByteBuf content) {
      int length = content.readableBytes();
      bytes += length;
      if (!usable || length == 0) {
        return;
      }
      if (content.hasArray()) {
        page.feed(content.array(), content.arrayOffset() + content.readerIndex(), length);
        return;
      }
      byte[] scratch = scraper.scratch();
      while (content.isReadable()) {
        int piece = Math.min(scratch.length, content.readableBytes());
        content.readBytes(scratch, 0, piece);
        page.feed(scratch, 0, piece);
      }
    }

    private void end() {
      answering = false;
      used = true;
      if (usable) {
        succeed(page.finish());
      } else {
        fail();
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      if (!context.channel().equals(channel)) {
        return;
      }
      channel = null;
      if (busy) {
        if (used && !answering) {
          // Closed as idle just when it was asked again: that is no failure of the engine.
          connect();
        } else {
          fail();
        }
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      var _ = context.close();
    }
  }
}
