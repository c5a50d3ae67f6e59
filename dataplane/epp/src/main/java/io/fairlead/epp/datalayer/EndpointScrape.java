package io.fairlead.epp.datalayer;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One endpoint with all that is asked about it: puts together what its sources say. A source that
 * knows nothing changes nothing of what the others say. Confined to its event loop, except {@link
 * #refuses}, {@link #failures}, {@link #start} and {@link #stop}.
 */
final class EndpointScrape {

  private static final Logger LOG = LoggerFactory.getLogger(EndpointScrape.class);

  private final MetricsScraper scraper;
  private final EndpointSpec endpoint;
  private final List<ScrapeTarget> targets = new ArrayList<>();
  private final LongAdder failures = new LongAdder();
  private final @Nullable EndpointReadings[] known;

  /** Whether each of the engine's own pages has been read or has failed. */
  private final boolean[] settled;

  EndpointScrape(
      MetricsScraper scraper,
      EndpointSpec endpoint,
      List<PageSource> sources,
      EventLoop loop,
      double place,
      Supplier<Bootstrap> bootstraps) {
    this.scraper = scraper;
    this.endpoint = endpoint;
    known = new EndpointReadings[sources.size()];
    settled = new boolean[sources.size()];
    for (int i = 0; i < settled.length; i++) {
      PageSource source = sources.get(i);
      settled[i] = !source.ofEngine();
      try {
        targets.add(
            new ScrapeTarget(scraper, this, i, source, endpoint, loop, place, bootstraps.get()));
      } catch (RuntimeException | LinkageError e) {
        count(source);
        LOG.error("{} can't be asked by {}", endpoint.name(), source.source().getClass(), e);
      }
    }
  }

  boolean sameProcess(EndpointSpec other) {
    return endpoint.incarnation().equals(other.incarnation())
        && endpoint.address().equals(other.address())
        && endpoint.port() == other.port()
        && endpoint.labels().equals(other.labels());
  }

  /** Whether the last attempts to reach the endpoint's own port got no connection. */
  boolean refuses() {
    boolean refuses = false;
    for (ScrapeTarget target : targets) {
      if (target.onOwnPort()) {
        if (!target.refuses()) {
          return false;
        }
        refuses = true;
      }
    }
    return refuses;
  }

  void start() {
    targets.forEach(ScrapeTarget::start);
  }

  void stop() {
    targets.forEach(ScrapeTarget::stop);
  }

  void read(int source, long begunAt, EndpointReadings readings) {
    known[source] = readings;
    settled[source] = true;
    tell(begunAt);
  }

  /**
   * A look at a source failed; what it said stays for now.
   *
   * @param how what it says of the port where the endpoint serves requests, null for nothing
   */
  void failed(int number, PageSource source, long begunAt, @Nullable Failure how) {
    settled[number] = true;
    count(source);
    if (how != null) {
      scraper.unreachable(endpoint, begunAt, how);
    }
  }

  private void count(PageSource source) {
    if (source.ofEngine()) {
      failures.increment();
    } else {
      scraper.sourceFailed();
    }
  }

  /** Looks at the engine's own pages that failed. Any thread. */
  long failures() {
    return failures.sum();
  }

  /** What the source said is too old to be believed. */
  void forget(int source, long begunAt) {
    known[source] = null;
    tell(begunAt);
  }

  /** Not before the engine itself has spoken, or has failed to: it would look unknown. */
  private void tell(long begunAt) {
    for (boolean spoken : settled) {
      if (!spoken) {
        return;
      }
    }
    EndpointReadings all = new EndpointReadings();
    boolean any = false;
    for (EndpointReadings one : known) {
      if (one != null) {
        all.addAll(one);
        any = true;
      }
    }
    scraper.tell(endpoint, begunAt, any ? all.metrics() : EndpointMetrics.UNKNOWN);
  }
}
