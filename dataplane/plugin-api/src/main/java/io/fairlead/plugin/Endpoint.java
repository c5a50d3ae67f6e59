package io.fairlead.plugin;

import java.util.Map;

/**
 * One port of one model server pod, with what is known about it now. It is the same object in every
 * call for as long as the pool has the endpoint, and never another endpoint afterwards: a plugin
 * may keep what it learns of endpoints in a {@link java.util.WeakHashMap} by them.
 */
public interface Endpoint {

  /** Unique in its pool, e.g. {@code vllm-7d4b9-rank-0}. */
  String name();

  /** IP address without brackets. */
  String address();

  int port();

  /** Labels of the pod. */
  Map<String, String> labels();

  /** What the labels say of its role, its hardware and where it runs. */
  EndpointAttributes attributes();

  /** A hash of the name, the same in every picker: for choices on which replicas must agree. */
  long identity();

  /**
   * Requests that have not ended, sent by this picker or by others of the pool that tell it of
   * theirs. Those of others are told late, by up to half a second. An answer that its client
   * doesn't read counts no more once the server's page shows that it is through with it.
   */
  int inFlight();

  /** Those of {@link #inFlight()} that have not had their first token. */
  int awaitingFirstToken();

  /** Those of {@link #inFlight()} that are critical. */
  int criticalInFlight();

  /** Those of {@link #inFlight()} that are sheddable. */
  int sheddableInFlight();

  /** Prompt tokens of the requests counted by {@link #inFlight()}. */
  long inFlightTokens();

  /** Those of {@link #inFlightTokens()} that were not believed to be cached when sent. */
  long uncachedInFlightTokens();

  /**
   * Those of {@link #inFlightTokens()} that take no room there: a prefix that several of these
   * requests begin with is kept once, and counts here for each but one of them.
   */
  default long repeatedInFlightTokens() {
    return 0;
  }

  /** The requests counted by {@link #awaitingFirstToken()}, as work still to be done. */
  Prefills prefills();

  /** Requests in the server's own queue as last scraped; 0 when never scraped. */
  int scrapedWaiting();

  /** Requests running in the server as last scraped; 0 when never scraped. */
  int scrapedRunning();

  /**
   * Requests that the server runs at a time, as far as that shows in what it tells: further ones
   * wait in its queue. 0 as long as nothing is known of it.
   */
  default int seats() {
    return 0;
  }

  /** Of {@link #inFlight}, those whose end will be seen; when the others are over is presumed. */
  default int watchedInFlight() {
    return inFlight();
  }

  /**
   * Sequences of the requests of {@link #inFlight}: a request has one for each answer that it asks
   * for ({@code n}, or several prompts), and engines count these in their queue and batch.
   */
  default int sequences() {
    return inFlight();
  }

  /** Those of {@link #watchedInFlight}. */
  default int watchedSequences() {
    return watchedInFlight();
  }

  /**
   * Sequences there, running or waiting, at the last scrape beside those of {@link
   * #watchedSequences}: others had sent them, or nobody sees their end.
   */
  default int foreignInFlight() {
    return 0;
  }

  /** Share of the KV cache in use as last scraped, from 0 to 1; NaN when unknown. */
  double kvUsage();

  /** Size of the KV cache in tokens as last scraped; 0 when unknown. */
  long kvCapacityTokens();

  /**
   * What a request costs there, in requests that are served, the failures of late counted: 1 where
   * none fail, and more the likelier one is.
   */
  default double risk() {
    return 1;
  }

  /**
   * When its caches were empty for certain: it came, came back, or another process took its place.
   * In nanoseconds, as {@link InferenceRequest#now()}; {@link Long#MIN_VALUE} where nobody knows.
   */
  default long emptyAt() {
    return Long.MIN_VALUE;
  }

  /** LoRA adapters there. */
  Adapters adapters();

  /** A number that a data source reported under this key, NaN when none did. */
  double metric(String key);

  /**
   * Requests that wait there: the larger of what was scraped and what this picker itself sent and
   * that has had no first token. A stale scrape alone can't make a busy endpoint look idle.
   */
  default int queueDepth() {
    return Math.max(scrapedWaiting(), awaitingFirstToken());
  }

  /**
   * Requests that wait there to be taken into a step: the larger of what was scraped and what of
   * this picker's own can't be through its prompts soon. Unlike {@link #queueDepth}, which counts
   * every request without a first token, it is 0 on an engine that is just busy: says when to hold
   * back, not whom to prefer.
   */
  default int waiting() {
    return queueDepth();
  }

  /**
   * Nanoseconds that those of {@link Prefills#watched} will take until they have their first
   * tokens, at the rate at which first tokens came there of late, beyond what one takes that is
   * alone: about what one more will wait. 0 where none of them is in line, since of the others it
   * can't be known.
   */
  default long expectedWait() {
    return 0;
  }

  /** Requests of this picker that are past their first token, as far as that can be told. */
  default int decoding() {
    return inFlight() - awaitingFirstToken();
  }

  /** The same in sequences: a step computes one token of each. */
  default int decodingSequences() {
    return decoding();
  }
}
