package io.fairlead.epp.datalayer;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.scheduling.MetricsSource;
import io.fairlead.epp.tls.EndpointTls;
import io.fairlead.plugin.DataSource;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.FastThreadLocal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks every endpoint for its metrics and for what else data sources want to know, over one
 * kept-alive connection for each and never more than one request at a time, so a slow engine is
 * asked less often instead of more.
 *
 * <p>{@link #sources}, {@link #endpoints} and {@link #close} are called from one thread; each
 * endpoint lives on one event loop.
 */
public final class MetricsScraper implements AutoCloseable {

  /** So long a request makes it likely that there is another one. */
  private static final long BUSY_NANOS = TimeUnit.SECONDS.toNanos(2);

  /**
   * Places in an interval: those in one are asked together, which costs less than one at a time.
   */
  private static final int PLACES = 8;

  private static final Logger LOG = LoggerFactory.getLogger(MetricsScraper.class);

  private final EventLoopGroup loops;
  private final Class<? extends Channel> channelType;
  private final Settings settings;
  private final LongSupplier clock;
  private final Sink sink;
  private final LongAdder sourceFailures = new LongAdder();
  private final FastThreadLocal<byte[]> scratch =
      new FastThreadLocal<>() {
        @Override
        protected byte[] initialValue() {
          return new byte[8 * 1024];
        }
      };

  /** Replaced as a whole by the owning thread, read from any. */
  private volatile Map<String, EndpointScrape> targets = Map.of();

  private List<DataSource> sources;
  private List<PageSource> pages;
  private List<EndpointSpec> endpoints = List.of();

  private boolean closed;

  /** Until then decisions depend on what servers say. */
  private volatile long busyUntil;

  /** Endpoints that were begun, for their places in the interval. */
  private int begun;

  /** Takes scrapes in; called on any event loop. */
  @FunctionalInterface
  public interface Sink {
    /**
     * What is known of an endpoint; all unknown when nothing could be read for long.
     *
     * @param begunAt when the page was asked for, by the scraper's clock
     */
    void scraped(EndpointSpec endpoint, long begunAt, EndpointMetrics metrics);

    /**
     * The port where an endpoint serves requests was asked for a page and did not answer.
     *
     * @param begunAt when it was asked, by the scraper's clock
     * @param how {@link Failure#REFUSED}, {@link Failure#UNREACHABLE}, {@link
     *     Failure#FIRST_BYTE_LATE} or {@link Failure#DIED}
     */
    default void unreachable(EndpointSpec endpoint, long begunAt, Failure how) {}
  }

  /**
   * How to scrape.
   *
   * @param interval from one look at a server's own metrics to the next, if no config says
   * @param timeout longest time for one scrape, rounded up to whole intervals
   * @param stale age at which the last good scrape is no longer believed, at least
   * @param pages where servers' own metrics are, if no config says
   * @param quiet from one look at a server's own metrics to the next while no decision depends on
   *     them, if no config says; as {@code interval} where it is shorter
   * @param tls how endpoints are spoken to over TLS with requests; null for none
   * @param asRequests whether {@code pages} are read so, where they are over TLS, or as they say
   *     themselves
   */
  public record Settings(
      Duration interval,
      Duration timeout,
      Duration stale,
      MetricsSource pages,
      Duration quiet,
      @Nullable EndpointTls tls,
      boolean asRequests) {

    /** Five times a second, one second for each; once a second while nothing is asked for. */
    public static final Settings DEFAULT =
        new Settings(
            Duration.ofMillis(200),
            Duration.ofSeconds(1),
            Duration.ofSeconds(5),
            MetricsSource.DEFAULT,
            Duration.ofSeconds(1),
            null,
            true);

    /** Of the pages that servers have unless somebody moved them, always at one pace. */
    public Settings(Duration interval, Duration timeout, Duration stale) {
      this(interval, timeout, stale, MetricsSource.DEFAULT, interval, null, true);
    }

    public Settings {
      if (interval.toMillis() < 10) {
        throw new IllegalArgumentException("interval is " + interval + "; set at least 10 ms");
      }
    }

    /** The same at another pace. */
    public Settings withInterval(Duration other) {
      return new Settings(other, timeout, stale, pages, quiet, tls, asRequests);
    }

    /** The same, believing a scrape for so long. */
    public Settings withStale(Duration other) {
      return new Settings(interval, timeout, other, pages, quiet, tls, asRequests);
    }

    /**
     * The same, of other pages.
     *
     * @param read whether they are read as requests are sent, or as they say themselves
     */
    public Settings withPages(MetricsSource other, boolean read) {
      return new Settings(interval, timeout, stale, other, quiet, tls, read);
    }

    /** The same, speaking to endpoints so. */
    public Settings withTls(@Nullable EndpointTls other) {
      return new Settings(interval, timeout, stale, pages, quiet, other, asRequests);
    }
  }

  /** A scraper with no endpoints yet; {@code clock} is monotonic, in nanoseconds. */
  public MetricsScraper(
      EventLoopGroup loops,
      Class<? extends Channel> channelType,
      Settings settings,
      LongSupplier clock,
      Sink sink) {
    this.loops = loops;
    this.channelType = channelType;
    this.settings = settings;
    this.clock = clock;
    this.sink = sink;
    busyUntil = clock.getAsLong() + BUSY_NANOS;
    sources = DataSources.of(settings);
    pages = pages(sources);
  }

  /** Asks these from now on, and no others. */
  public void sources(List<DataSource> all) {
    if (closed || all.equals(sources)) {
      return;
    }
    List<PageSource> old = pages;
    sources = List.copyOf(all);
    pages = pages(sources);
    List<EndpointSpec> same = endpoints;
    scrape(List.of());
    scrape(same);
    old.forEach(PageSource::close);
  }

  private List<PageSource> pages(List<DataSource> all) {
    List<PageSource> made = new ArrayList<>();
    for (DataSource source : all) {
      try {
        made.add(
            source instanceof EnginePages engine
                ? new EnginePageSource(engine, settings)
                : new ListedPageSource(source));
      } catch (RuntimeException | LinkageError e) {
        sourceFailures.increment();
        LOG.error("data source {} is left out: it can't be asked", source.getClass().getName(), e);
      }
    }
    return List.copyOf(made);
  }

  /** Scrapes these from now on, and no others; nothing once it is closed. */
  public void endpoints(List<EndpointSpec> endpoints) {
    if (!closed) {
      scrape(endpoints);
    }
  }

  private void scrape(List<EndpointSpec> all) {
    endpoints = List.copyOf(all);
    Map<String, EndpointScrape> before = targets;
    Map<String, EndpointScrape> after = HashMap.newHashMap(all.size());
    for (EndpointSpec endpoint : all) {
      EndpointScrape known = before.get(endpoint.name());
      after.put(
          endpoint.name(), known != null && known.sameProcess(endpoint) ? known : begin(endpoint));
    }
    targets = after;
    before.forEach(
        (name, target) -> {
          if (after.get(name) != target) {
            target.stop();
          }
        });
  }

  /** Scrapes of its own metrics that failed, by endpoint, since each came. */
  public SortedMap<String, Long> failures() {
    SortedMap<String, Long> all = new TreeMap<>();
    targets.forEach((name, target) -> all.put(name, target.failures()));
    return all;
  }

  /** Looks of other data sources that failed, since the start. */
  public long sourceFailures() {
    return sourceFailures.sum();
  }

  /** Whether there are endpoints and not one of them accepts a connection. */
  public boolean allRefuse() {
    Map<String, EndpointScrape> now = targets;
    return !now.isEmpty() && now.values().stream().allMatch(EndpointScrape::refuses);
  }

  @Override
  public void close() {
    closed = true;
    scrape(List.of());
    pages.forEach(PageSource::close);
  }

  /** A request has come or is under way. Any thread. */
  public void busy() {
    long until = clock.getAsLong() + BUSY_NANOS;
    // Seldom written, as it is read by all loops.
    if (until - busyUntil > BUSY_NANOS / 2) {
      busyUntil = until;
    }
  }

  /** Whether decisions depend on what servers say. */
  boolean isBusy(long now) {
    return now - busyUntil < 0;
  }

  private EndpointScrape begin(EndpointSpec endpoint) {
    EventLoop loop = loops.next();
    double place = place(begun++);
    EndpointScrape scrape =
        new EndpointScrape(this, endpoint, pages, loop, place, () -> bootstrap(loop));
    scrape.start();
    return scrape;
  }

  /** Where in each interval the so-manieth endpoint is asked, 0 to 1. */
  static double place(int number) {
    return Math.floorMod(number, PLACES) / (double) PLACES;
  }

  private Bootstrap bootstrap(EventLoop loop) {
    return new Bootstrap()
        .group(loop)
        .channel(channelType)
        .option(ChannelOption.TCP_NODELAY, true)
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, Math.toIntExact(settings.timeout.toMillis()));
  }

  /** Endpoints being scraped. */
  int targets() {
    return targets.size();
  }

  Settings settings() {
    return settings;
  }

  long now() {
    return clock.getAsLong();
  }

  /** Room for copying from direct buffers, one per loop. */
  byte[] scratch() {
    return scratch.get();
  }

  void tell(EndpointSpec endpoint, long begunAt, EndpointMetrics metrics) {
    sink.scraped(endpoint, begunAt, metrics);
  }

  void unreachable(EndpointSpec endpoint, long begunAt, Failure how) {
    sink.unreachable(endpoint, begunAt, how);
  }

  void sourceFailed() {
    sourceFailures.increment();
  }
}
