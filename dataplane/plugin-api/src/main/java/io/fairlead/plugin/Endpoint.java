package io.fairlead.plugin;

import java.util.Map;

/** One port of one model server pod, with what is known about it now. */
public interface Endpoint {

  /** Unique in its pool, e.g. {@code vllm-7d4b9-rank-0}. */
  String name();

  /** IP address without brackets. */
  String address();

  int port();

  /** Labels of the pod. */
  Map<String, String> labels();

  /** Requests sent by this picker that have not ended. */
  int inFlight();

  /** Those of {@link #inFlight()} that have not had their first token. */
  int awaitingFirstToken();

  /** Prompt tokens of the requests counted by {@link #inFlight()}. */
  long inFlightTokens();

  /** Requests in the server's own queue as last scraped; 0 when never scraped. */
  int scrapedWaiting();

  /** Requests running in the server as last scraped; 0 when never scraped. */
  int scrapedRunning();

  /** Share of the KV cache in use as last scraped, from 0 to 1; NaN when unknown. */
  double kvUsage();

  /**
   * Requests that wait there: the larger of what was scraped and what this picker itself sent and
   * that has had no first token. A stale scrape alone can't make a busy endpoint look idle.
   */
  default int queueDepth() {
    return Math.max(scrapedWaiting(), awaitingFirstToken());
  }
}
