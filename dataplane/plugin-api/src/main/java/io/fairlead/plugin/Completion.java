package io.fairlead.plugin;

import org.jspecify.annotations.Nullable;

/** How a request went that was sent. Valid only during the call it is passed to. */
public interface Completion {
  /** Events of a streamed answer that are no tokens: of its role and of its end. */
  int EVENTS_AROUND = 2;

  /** When it ended, in the nanoseconds of {@link InferenceRequest#now()}. */
  long now();

  /** Where it was sent. */
  Endpoint endpoint();

  String targetModel();

  /** Whether the response was delivered to its end. */
  boolean succeeded();

  /** Nanoseconds from sending to the first token; -1 when there was none. */
  long timeToFirstToken();

  /**
   * Nanoseconds to the first token since the last one before it of whoever computed the prompt, or
   * since it was sent if that was later: what its own prefill took, when prefills are done one
   * after the other; -1 when there was none, or where some were before it of which nothing tells
   * when their prompts were computed, as of answers in one piece.
   */
  long prefillTime();

  /**
   * Nanoseconds from the first token to the end, of an answer that was not delivered whole to its
   * last byte; -1 when there was no first token, or its client held the answer up.
   */
  long decodeTime();

  /**
   * Nanoseconds from sending to the end of an answer in one piece, of which nothing tells when its
   * first token was there; -1 of one that was streamed, that failed, that its client held up, that
   * had to wait for its adapter, or whose prompt another endpoint computed.
   */
  default long wholeTime() {
    return -1;
  }

  /** Prompt tokens as the server counted them; -1 when it did not say. */
  int promptTokens();

  /**
   * Answers that it asked for, which are decoded side by side: times tell of the longest of them,
   * so that of several they are no measure of a token's.
   */
  default int answers() {
    return 1;
  }

  /**
   * Tokens produced as the server counted them, of several answers in the mean; -1 when it did not
   * say.
   */
  int outputTokens();

  /**
   * Events that the response was streamed in, of several answers in the mean; 0 when it came in one
   * piece. Engines send one for each token unless told otherwise, and {@link #EVENTS_AROUND} around
   * them: most clients ask for no token counts.
   */
  int streamedEvents();

  /** Prompt tokens as estimated before it was sent: what expectations are counted in. */
  int estimatedPromptTokens();

  /** Whether another endpoint computed the prompt: what was expected is expected of that one. */
  boolean prefilledElsewhere();

  /** The endpoint that computed the prompt for another; null if none did, or it has left. */
  default @Nullable Endpoint prefiller() {
    return null;
  }

  /** Estimated prompt tokens that the {@link #prefiller} had to send to the endpoint. */
  default int transferredTokens() {
    return 0;
  }

  /** Estimated prompt tokens that were believed to be cached when it was sent. */
  int expectedCachedTokens();

  /** Prompt tokens that were cached; -1 when the server did not say. */
  int cachedTokens();

  /**
   * Mean of {@link Endpoint#decodingSequences()} while this request decoded, itself included; of an
   * answer in one piece, since it was sent.
   */
  double meanDecoding();

  /** Mean of {@link Endpoint#inFlightTokens()} meanwhile. */
  double meanInFlightTokens();
}
