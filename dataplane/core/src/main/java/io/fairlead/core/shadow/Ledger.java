package io.fairlead.core.shadow;

import io.fairlead.core.EndpointMetrics;
import java.util.HashMap;
import java.util.Map;

/** What is at each endpoint when requests are sent by one of two schedulings. */
final class Ledger {

  /** One endpoint, as long as something is there. */
  private static final class Line {
    private int inFlight;
    private int prefilling;
    private long tokens;
  }

  private final Map<String, Line> lines = new HashMap<>();
  private long inFlight;
  private double sumMost;
  private double sumMean;
  private long cachedTokens;
  private double firstTokenNanos;

  /** Tokens at the endpoint that have to be computed before a new request's. */
  long ahead(String endpoint) {
    Line line = lines.get(endpoint);
    return line == null ? 0 : line.tokens;
  }

  /** A request is sent there. */
  void sent(String endpoint, long uncached, long cached, double expectedNanos) {
    Line line = lines.computeIfAbsent(endpoint, name -> new Line());
    line.inFlight++;
    line.prefilling++;
    line.tokens += uncached;
    inFlight++;
    cachedTokens += cached;
    firstTokenNanos += expectedNanos;
  }

  /** Its prompt is computed: to be told once of each that was sent. */
  void computed(String endpoint, long uncached) {
    Line line = lines.get(endpoint);
    if (line != null) {
      line.prefilling--;
      line.tokens -= uncached;
    }
  }

  /** It is over: to be told once of each that was sent. */
  void over(String endpoint) {
    Line line = lines.get(endpoint);
    if (line != null) {
      inFlight--;
      if (--line.inFlight == 0) {
        lines.remove(endpoint);
      }
    }
  }

  /** The scrape as it would be: one prompt at a time is computed, the others wait for that. */
  EndpointMetrics asScraped(String endpoint, EndpointMetrics real) {
    Line line = lines.get(endpoint);
    int waiting = line == null ? 0 : Math.max(0, line.prefilling - 1);
    int running = line == null ? 0 : line.inFlight - waiting;
    return new EndpointMetrics(
        waiting,
        running,
        real.kvUsage(),
        real.blockSize(),
        real.blocks(),
        real.baseModel(),
        real.maxAdapters(),
        real.runningAdapters(),
        real.waitingAdapters(),
        real.values(),
        real.startedAt(),
        real.progress(),
        real.usedTokens());
  }

  /** Looks at how evenly requests lie. */
  void look(int endpoints) {
    if (inFlight == 0 || endpoints == 0) {
      return;
    }
    int most = 0;
    for (Line line : lines.values()) {
      most = Math.max(most, line.inFlight);
    }
    sumMost += most;
    sumMean += (double) inFlight / endpoints;
  }

  /** Forgets what was summed up, and nothing of what is at endpoints. */
  void countAnew() {
    sumMost = 0;
    sumMean = 0;
    cachedTokens = 0;
    firstTokenNanos = 0;
  }

  ShadowSnapshot.Choices choices() {
    return new ShadowSnapshot.Choices(
        cachedTokens, firstTokenNanos / 1e9, sumMean == 0 ? 0 : sumMost / sumMean);
  }
}
