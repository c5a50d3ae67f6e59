package io.fairlead.epp.datalayer;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.FastThreadLocal;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Polls every endpoint's metrics page, over one kept-alive connection each and never more than one
 * request at a time, so a slow engine is asked less often instead of more.
 *
 * <p>{@link #endpoints} and {@link #close} are called from one thread; each target lives on one
 * event loop.
 */
public final class MetricsScraper implements AutoCloseable {

  private final EventLoopGroup loops;
  private final Class<? extends Channel> channelType;
  private final Settings settings;
  private final LongSupplier clock;
  private final Sink sink;
  private final LongAdder failures = new LongAdder();
  private final FastThreadLocal<byte[]> scratch =
      new FastThreadLocal<>() {
        @Override
        protected byte[] initialValue() {
          return new byte[8 * 1024];
        }
      };

  /** Replaced as a whole by the owning thread, read from any. */
  private volatile Map<String, ScrapeTarget> targets = Map.of();

  private boolean closed;

  /** Takes scrapes in; called on any event loop. */
  @FunctionalInterface
  public interface Sink {
    /**
     * What an endpoint's page said; all unknown when it could not be read for long.
     *
     * @param begunAt when the page was asked for, by the scraper's clock
     */
    void scraped(EndpointSpec endpoint, long begunAt, EndpointMetrics metrics);
  }

  /**
   * How to scrape.
   *
   * @param interval from one scrape of an endpoint to the next
   * @param timeout longest time for one scrape, rounded up to whole intervals
   * @param stale age at which the last good scrape is no longer believed
   * @param path of the metrics page
   * @param mapping what to read from it
   */
  public record Settings(
      Duration interval, Duration timeout, Duration stale, String path, MetricMapping mapping) {

    /** Five times a second, one second for each, vLLM's names. */
    public static final Settings DEFAULT =
        new Settings(
            Duration.ofMillis(200),
            Duration.ofSeconds(1),
            Duration.ofSeconds(5),
            "/metrics",
            MetricMapping.VLLM);

    public Settings {
      if (interval.toMillis() < 10) {
        throw new IllegalArgumentException("interval is " + interval + "; set at least 10 ms");
      }
      if (!path.startsWith("/")) {
        throw new IllegalArgumentException("path is \"" + path + "\"; start it with /");
      }
    }

    /** The same at another pace. */
    public Settings withInterval(Duration other) {
      return new Settings(other, timeout, stale, path, mapping);
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
  }

  /** Scrapes these from now on, and no others; nothing once it is closed. */
  public void endpoints(List<EndpointSpec> endpoints) {
    if (!closed) {
      scrape(endpoints);
    }
  }

  private void scrape(List<EndpointSpec> endpoints) {
    Map<String, ScrapeTarget> before = targets;
    Map<String, ScrapeTarget> after = HashMap.newHashMap(endpoints.size());
    for (EndpointSpec endpoint : endpoints) {
      ScrapeTarget known = before.get(endpoint.name());
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

  /** Scrapes that failed, since the start. */
  public long failures() {
    return failures.sum();
  }

  /** Whether there are endpoints and not one of them accepts a connection. */
  public boolean allRefuse() {
    Map<String, ScrapeTarget> now = targets;
    return !now.isEmpty() && now.values().stream().allMatch(ScrapeTarget::refuses);
  }

  @Override
  public void close() {
    closed = true;
    scrape(List.of());
  }

  private ScrapeTarget begin(EndpointSpec endpoint) {
    EventLoop loop = loops.next();
    Bootstrap bootstrap =
        new Bootstrap()
            .group(loop)
            .channel(channelType)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(
                ChannelOption.CONNECT_TIMEOUT_MILLIS, Math.toIntExact(settings.timeout.toMillis()));
    ScrapeTarget target = new ScrapeTarget(this, endpoint, loop, bootstrap);
    target.start();
    return target;
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

  void succeeded(EndpointSpec endpoint, long begunAt, EndpointMetrics metrics) {
    sink.scraped(endpoint, begunAt, metrics);
  }

  void failed() {
    failures.increment();
  }
}
