package io.fairlead.epp.datalayer;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.Route;
import io.fairlead.epp.datalayer.PageSource.PageReader;
import io.fairlead.epp.tls.EndpointTls;
import io.fairlead.epp.transport.Failures;
import io.fairlead.epp.transport.Transport;
import io.fairlead.plugin.DataSource.Target;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One endpoint being asked by one source: at every tick it begins a scrape, unless one is under
 * way, or no decision depends on it and the last one is not long ago. Failures in a row make it
 * skip more and more ticks, up to about two seconds.
 *
 * <p>Confined to its event loop, except {@link #refuses}, {@link #onOwnPort}, {@link #start} and
 * {@link #stop}.
 */
final class ScrapeTarget {

  private static final Logger LOG = LoggerFactory.getLogger(ScrapeTarget.class);

  private static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final MetricsScraper scraper;
  private final EndpointScrape endpoint;
  private final int number;
  private final PageSource source;
  private final EventLoop loop;
  private final Bootstrap bootstrap;
  private final PageReader page;
  private final InetSocketAddress address;
  private final boolean onOwnPort;
  private final String host;
  private final String path;
  private final int maxBytes;
  private final long interval;
  private final long phase;
  private final long quiet;
  private final long stale;

  private volatile boolean refuses;

  /** Set before the source is closed, so that a look which ends with it is not taken for failed. */
  private volatile boolean stopped;

  private @Nullable Future<?> ticks;
  private @Nullable Channel channel;

  /** Counts connections, so that what comes of a former one is not taken for this one's. */
  private long connection;

  private boolean busy;

  /** Whether the last tick threw something. */
  private boolean failed;

  /** Whether it has ever looked. */
  private boolean asked;

  /** Whether the head of an answer has come, and not its end. */
  private boolean answering;

  /** Whether the source still reads a page: perhaps of a scrape that has been given up. */
  private boolean reading;

  private long begunAt;
  private long goodAt;
  private boolean believed;
  private int failuresInRow;
  private long skip;

  /**
   * One that has not begun.
   *
   * @param place where in each interval it looks, 0 to 1, so that not all look at once
   * @throws RuntimeException whatever the source's own code throws
   */
  ScrapeTarget(
      MetricsScraper scraper,
      EndpointScrape endpoint,
      int number,
      PageSource source,
      EndpointSpec spec,
      EventLoop loop,
      double place,
      Bootstrap bootstrap) {
    this.scraper = scraper;
    this.endpoint = endpoint;
    this.number = number;
    this.source = source;
    this.loop = loop;
    this.bootstrap = bootstrap;
    Target target = new Target(spec.name(), spec.address(), spec.port(), spec.labels());
    page = source.reader(target, loop);
    int port = source.source().port(target);
    onOwnPort = port == spec.port();
    address = new InetSocketAddress(spec.address(), port);
    host = Route.destination(spec.address(), port);
    path = source.source().path();
    maxBytes = source.source().maxBytes();
    interval = source.interval().toNanos();
    phase = (long) (place * interval);
    quiet = Math.max(interval, source.quiet().toNanos());
    stale = Math.max(scraper.settings().stale().toNanos(), 3 * quiet);
    EndpointTls tls = source.tls();
    bootstrap.handler(
        new ChannelInitializer<Channel>() {
          @Override
          protected void initChannel(Channel ch) {
            EndpointTls.addTo(
                ch,
                tls,
                EndpointTls.Protocol.HTTP_1_1,
                spec.address(),
                port,
                scraper.settings().timeout());
            ch.pipeline().addLast(Transport.answers(), new Reader());
          }
        });
  }

  /** Whether it asks where the endpoint serves inference. */
  boolean onOwnPort() {
    return onOwnPort;
  }

  /** Whether the last attempt got no connection. */
  boolean refuses() {
    return refuses;
  }

  void start() {
    loop.execute(
        () -> {
          if (!stopped) {
            // Something else may have read this source before: if nothing comes, that is forgotten
            // too.
            goodAt = scraper.now();
            believed = true;
            // At once, as nothing is known of it; from then on in its place.
            tick();
            long delay = Math.floorMod(phase - scraper.now(), interval);
            ticks = loop.scheduleAtFixedRate(this::tick, delay, interval, TimeUnit.NANOSECONDS);
          }
        });
  }

  void stop() {
    stopped = true;
    loop.execute(
        () -> {
          if (ticks != null) {
            ticks.cancel(false);
          }
          disconnect();
        });
  }

  /** A periodic task would end with what it throws, and the endpoint not be asked any more. */
  private void tick() {
    try {
      look();
      failed = false;
    } catch (RuntimeException | Error e) {
      if (!failed) {
        LOG.error("a scrape of {} has failed unexpectedly; it is tried again", host, e);
      }
      failed = true;
    }
  }

  private void look() {
    long now = scraper.now();
    if (busy) {
      if (now - begunAt >= scraper.settings().timeout().toNanos()) {
        fail(late());
      }
      return;
    }
    if (skip > 0) {
      skip--;
      return;
    }
    if (reading) {
      forgetWhatIsStale(now);
      return; // of a scrape that was given up: one page at a time
    }
    // Half an interval, as ticks aren't exact.
    boolean soon = quiet > interval && now - begunAt < quiet - interval / 2;
    if (asked && soon && !scraper.isBusy(now)) {
      return;
    }
    asked = true;
    busy = true;
    begunAt = now;
    if (channel != null && channel.isActive()) {
      ask(channel);
    } else {
      connect();
    }
  }

  /** What being late says: nothing of who is in the midst of an answer, or of a source's code. */
  private @Nullable Failure late() {
    if (reading) {
      return null;
    }
    if (channel == null || !channel.isActive()) {
      return Failure.UNREACHABLE;
    }
    return answering ? null : Failure.FIRST_BYTE_LATE;
  }

  private void connect() {
    long mine = ++connection;
    channel =
        Transport.connect(
            bootstrap,
            loop,
            address,
            connected -> {
              if (mine != connection) {
                var _ = connected.close();
              } else {
                refuses = false;
                ask(connected);
              }
            },
            cause -> {
              if (mine == connection) {
                notConnected(Failures.ofConnect(cause));
              }
            });
  }

  private void notConnected(Failure how) {
    if (how.ofEndpoint()) {
      refuses = true;
      fail(how);
    } else {
      fail(null);
    }
  }

  private void ask(Channel to) {
    var request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, path);
    request
        .headers()
        .set(HttpHeaderNames.HOST, host)
        .set(HttpHeaderNames.ACCEPT, HttpHeaderValues.TEXT_PLAIN);
    page.begin();
    answering = false;
    var _ = to.writeAndFlush(request);
  }

  /** The page is here as a whole; whoever reads it may take until later. */
  private void read() {
    long asked = begunAt;
    reading = true;
    page.end(
        readings -> {
          reading = false;
          if (stopped || !busy || begunAt != asked) {
            return; // too late: it has been counted as a failure
          }
          if (readings == null) {
            fail(null);
          } else {
            succeed(readings);
          }
        });
  }

  private void succeed(EndpointReadings readings) {
    busy = false;
    failuresInRow = 0;
    goodAt = scraper.now();
    believed = true;
    endpoint.read(number, begunAt, readings);
  }

  /** A look failed; {@code how} is null where that is no fault of the endpoint's port. */
  private void fail(@Nullable Failure how) {
    busy = false;
    if (stopped) {
      disconnect();
      return;
    }
    endpoint.failed(number, source, begunAt, onOwnPort ? how : null);
    failuresInRow = Math.min(failuresInRow + 1, 16);
    long most = MAX_PAUSE_NANOS / interval;
    skip = Math.min(most, (1L << failuresInRow) - 2);
    forgetWhatIsStale(scraper.now());
    disconnect();
  }

  private void forgetWhatIsStale(long now) {
    if (believed && now - goodAt >= stale) {
      believed = false;
      endpoint.forget(number, begunAt);
    }
  }

  private void disconnect() {
    connection++;
    Channel old = channel;
    channel = null;
    if (old != null) {
      var _ = old.close();
    }
  }

  /** Reads the answers of one connection. */
  private final class Reader extends SimpleChannelInboundHandler<HttpObject> {

    private boolean usable;
    private boolean used;
    private int bytes;

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject message) {
      if (!context.channel().equals(channel) || !busy) {
        var _ = context.close();
        return;
      }
      if (message.decoderResult().isFailure()) {
        fail(null);
        return;
      }
      if (message instanceof HttpResponse response) {
        answering = true;
        usable = response.status().code() == 200;
        bytes = 0;
      }
      if (message instanceof HttpContent content) {
        take(content.content());
        if (bytes > maxBytes) {
          fail(null);
        } else if (message instanceof LastHttpContent) {
          end();
        }
      }
    }

    private void take(ByteBuf content) {
      int length = content.readableBytes();
      bytes += length;
      if (!usable || length == 0 || bytes > maxBytes) {
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
        read();
      } else {
        fail(null);
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      if (!context.channel().equals(channel)) {
        return;
      }
      channel = null;
      // A page that is being read is here as a whole: the server may have closed after it.
      if (busy && !reading) {
        if (used && !answering) {
          // Closed as idle just when it was asked again: that is no failure of the engine.
          connect();
        } else {
          fail(answering ? null : Failure.DIED);
        }
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      var _ = context.close();
    }
  }
}
