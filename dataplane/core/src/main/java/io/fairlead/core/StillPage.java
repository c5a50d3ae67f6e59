package io.fairlead.core;

import org.jspecify.annotations.Nullable;

/**
 * What one server's page says, less what can't be true of its load. An engine that works computes
 * tokens, which its counters tell, or the exact use of its cache, so a page that tells of work and
 * is the same for long stands still: a proxy has kept it, or who writes it has stopped, and the
 * engine may be idle. Believed, it would have requests wait for ever. If it is the engine that
 * stands still, requests that are sent there find out.
 */
final class StillPage {

  private static final int SCRAPES = 5;
  private static final long LONG = 5_000_000_000L;

  private EndpointMetrics last = EndpointMetrics.UNKNOWN;
  private @Nullable EndpointMetrics withoutLoad;

  /** Scrapes that told the same, and when the first of them was begun. */
  private int scrapes;

  private long since;

  /** What a scrape told, its load unknown while the page stands still. */
  EndpointMetrics believed(long begunAt, EndpointMetrics scrape) {
    if (!tellsOfWork(scrape) || !scrape.equals(last)) {
      last = scrape;
      withoutLoad = null;
      scrapes = 1;
      since = begunAt;
      return scrape;
    }
    scrapes++;
    if (scrapes < SCRAPES || begunAt - since < LONG) {
      return scrape;
    }
    EndpointMetrics rest = withoutLoad;
    if (rest == null) {
      rest = scrape.withoutLoad();
      withoutLoad = rest;
    }
    return rest;
  }

  /** And of what comes of it. */
  private static boolean tellsOfWork(EndpointMetrics scrape) {
    return !Double.isNaN(scrape.progress())
        && (scrape.waiting() > 0 || scrape.running() > 0 || scrape.kvUsage() > 0);
  }

  /** Another process is there. */
  void forget() {
    last = EndpointMetrics.UNKNOWN;
  }
}
