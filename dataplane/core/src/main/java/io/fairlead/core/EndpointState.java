package io.fairlead.core;

import io.fairlead.core.prefix.BlockHasher;
import io.fairlead.plugin.Endpoint;
import java.util.Map;

/**
 * One incarnation of an endpoint: what it is, what was scraped, and the exact account of what was
 * sent to it. Requests in flight point here, so an old incarnation's end never touches the new one.
 */
final class EndpointState implements Endpoint {

  /** Prompt tokens that one hash block stands for. */
  private static final int TOKENS_PER_BLOCK = BlockHasher.BLOCK_BYTES / 4;

  private EndpointSpec spec;

  /** Number in the prefix index; reused after this incarnation is gone. */
  private final int slot;

  private EndpointMetrics metrics = EndpointMetrics.UNKNOWN;
  private boolean leaving;
  private int inFlight;
  private int awaitingFirstToken;
  private long inFlightTokens;
  private long sent;
  private long matchedBlocks;
  private long promptBlocks;

  EndpointState(EndpointSpec spec, int slot) {
    this.spec = spec;
    this.slot = slot;
  }

  int slot() {
    return slot;
  }

  boolean leaving() {
    return leaving;
  }

  /** Whether the spec is of the same process, however its labels have changed. */
  boolean isSame(EndpointSpec other) {
    return spec.name().equals(other.name())
        && spec.incarnation().equals(other.incarnation())
        && spec.address().equals(other.address())
        && spec.port() == other.port();
  }

  void eligible(EndpointSpec current) {
    spec = current;
    leaving = false;
  }

  void leave() {
    leaving = true;
  }

  void scraped(EndpointMetrics scrape) {
    metrics = scrape;
  }

  void sent(int tokens, int matched, int blocks) {
    sent++;
    inFlight++;
    awaitingFirstToken++;
    inFlightTokens += tokens;
    matchedBlocks += matched;
    promptBlocks += blocks;
  }

  void firstToken() {
    awaitingFirstToken--;
  }

  void ended(int tokens, boolean firstTokenSeen) {
    inFlight--;
    inFlightTokens -= tokens;
    if (!firstTokenSeen) {
      awaitingFirstToken--;
    }
  }

  /** KV cache size in hash blocks, from 1 to {@code max}; 0 when unknown. */
  int kvBlocks(int max) {
    if (metrics.blocks() <= 0 || metrics.blockSize() <= 0) {
      return 0;
    }
    long tokens = (long) metrics.blocks() * metrics.blockSize();
    return Math.clamp(tokens / TOKENS_PER_BLOCK, 1, max);
  }

  EndpointSnapshot snapshot() {
    return new EndpointSnapshot(
        spec.name(),
        inFlight,
        awaitingFirstToken,
        scrapedWaiting(),
        kvUsage(),
        sent,
        matchedBlocks,
        promptBlocks,
        leaving);
  }

  @Override
  public String name() {
    return spec.name();
  }

  @Override
  public String address() {
    return spec.address();
  }

  @Override
  public int port() {
    return spec.port();
  }

  @Override
  public Map<String, String> labels() {
    return spec.labels();
  }

  @Override
  public int inFlight() {
    return inFlight;
  }

  @Override
  public int awaitingFirstToken() {
    return awaitingFirstToken;
  }

  @Override
  public long inFlightTokens() {
    return inFlightTokens;
  }

  @Override
  public int scrapedWaiting() {
    return Math.max(0, metrics.waiting());
  }

  @Override
  public int scrapedRunning() {
    return Math.max(0, metrics.running());
  }

  @Override
  public double kvUsage() {
    double usage = metrics.kvUsage();
    return usage >= 0 ? Math.min(usage, 1) : Double.NaN;
  }
}
