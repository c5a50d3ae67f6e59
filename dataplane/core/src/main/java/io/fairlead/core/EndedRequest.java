package io.fairlead.core;

import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Endpoint;
import org.jspecify.annotations.Nullable;

/** What observers are told of a request that has ended: one object, set anew for each. */
final class EndedRequest implements Completion {

  private @Nullable EndpointState endpoint;
  private long now;
  private String target = "";
  private boolean succeeded;
  private long timeToFirstToken;
  private long prefillTime;
  private long decodeTime;
  private long wholeTime;
  private Usage usage = Usage.UNKNOWN;
  private int answers = 1;
  private int output = -1;
  private int events;
  private int expectedCached;
  private int estimatedPrompt;
  private boolean prefilledElsewhere;
  private @Nullable EndpointState prefiller;
  private int transferred;
  private double meanDecoding;
  private double meanTokens;

  /** Must be called before the request is taken off the endpoint's account. */
  void set(long now, Flight flight, EndpointState endpoint, Outcome outcome, Usage usage) {
    this.endpoint = endpoint;
    this.now = now;
    this.usage = usage;
    answers = flight.attempt.answers;
    output = flight.attempt.ofEach(usage.completionTokens());
    events = flight.attempt.ofEach(usage.streamedEvents());
    target = flight.attempt.target;
    succeeded = outcome == Outcome.COMPLETED;
    expectedCached = flight.attempt.cached;
    estimatedPrompt = flight.attempt.tokens;
    EndpointState elsewhere = flight.attempt.prefilledBy;
    prefilledElsewhere = elsewhere != null;
    // One that has left may be another one's successor in what plugins know of it.
    prefiller = elsewhere == null || elsewhere.leaving() ? null : elsewhere;
    transferred = flight.attempt.transferred;
    boolean decoded = flight.firstTokenSeen();
    timeToFirstToken =
        decoded && !flight.attempt.sinceUnknown
            ? flight.attempt.firstTokenAt - flight.attempt.sentAt
            : -1;
    boolean told = decoded && !flight.attempt.behindUnseen && !flight.attempt.sinceUnknown;
    prefillTime = told ? flight.attempt.firstTokenAt - flight.attempt.prefillSince : -1;
    decodeTime = decoded ? decodeTime(now, flight, succeeded) : -1;
    wholeTime = tellsWhole(flight, outcome) ? now - flight.attempt.sentAt : -1;
    long areaOf = decoded ? now - flight.attempt.firstTokenAt : wholeTime;
    if (areaOf > 0) {
      meanDecoding = (double) (endpoint.decodingArea(now) - flight.attempt.decodingArea) / areaOf;
      meanTokens = (double) (endpoint.tokensArea(now) - flight.attempt.tokensArea) / areaOf;
    } else {
      meanDecoding = decoded ? endpoint.decodingSequences() : 0;
      meanTokens = decoded ? endpoint.inFlightTokens() : 0;
    }
  }

  /**
   * Of an answer that was not delivered to its end, until its last byte, or little more: a client
   * may have read nothing for long before it left. Nothing of one that a client held up.
   */
  private static long decodeTime(long now, Flight flight, boolean succeeded) {
    Attempt attempt = flight.attempt;
    if (attempt.wasHeldUp) {
      return -1;
    }
    return succeeded
        ? now - attempt.firstTokenAt
        : Math.min(now, attempt.lastByteAt + PoolCore.PROGRESS_NANOS) - attempt.firstTokenAt;
  }

  private static boolean tellsWhole(Flight flight, Outcome outcome) {
    return outcome == Outcome.COMPLETED
        && !flight.facts.delivery().streamed()
        && !flight.state().isLeft()
        && !flight.attempt.judged
        && !flight.attempt.tellsNoTime()
        && !flight.attempt.loadsAdapter
        && flight.attempt.prefilledBy == null;
  }

  /** Whether it says something that observers have not been told. */
  boolean isSet() {
    return endpoint != null;
  }

  void clear() {
    endpoint = null;
    prefiller = null;
    usage = Usage.UNKNOWN;
    output = -1;
    events = 0;
    target = "";
  }

  @Override
  public long now() {
    return now;
  }

  @Override
  public Endpoint endpoint() {
    if (endpoint == null) {
      throw new IllegalStateException("a completion is valid only while it is told");
    }
    return endpoint;
  }

  @Override
  public String targetModel() {
    return target;
  }

  @Override
  public boolean succeeded() {
    return succeeded;
  }

  @Override
  public long timeToFirstToken() {
    return timeToFirstToken;
  }

  @Override
  public long prefillTime() {
    return prefillTime;
  }

  @Override
  public long decodeTime() {
    return decodeTime;
  }

  @Override
  public long wholeTime() {
    return wholeTime;
  }

  @Override
  public int promptTokens() {
    return usage.promptTokens();
  }

  @Override
  public int outputTokens() {
    return output;
  }

  @Override
  public int streamedEvents() {
    return events;
  }

  @Override
  public int answers() {
    return answers;
  }

  @Override
  public int estimatedPromptTokens() {
    return estimatedPrompt;
  }

  @Override
  public boolean prefilledElsewhere() {
    return prefilledElsewhere;
  }

  @Override
  public @Nullable Endpoint prefiller() {
    return prefiller;
  }

  @Override
  public int transferredTokens() {
    return transferred;
  }

  @Override
  public int expectedCachedTokens() {
    return expectedCached;
  }

  @Override
  public int cachedTokens() {
    return usage.cachedTokens();
  }

  @Override
  public double meanDecoding() {
    return meanDecoding;
  }

  @Override
  public double meanInFlightTokens() {
    return meanTokens;
  }
}
