package io.fairlead.core;

import io.fairlead.plugin.Completion;

/**
 * Token counts as the endpoint reported them; -1 where it did not.
 *
 * @param promptTokens length of the prompt
 * @param completionTokens tokens produced
 * @param cachedTokens prompt tokens found in the KV cache
 * @param streamedEvents events that the response was streamed in, the last one included; 0 when it
 *     was not
 */
public record Usage(int promptTokens, int completionTokens, int cachedTokens, int streamedEvents) {

  /** Nothing was reported. */
  public static final Usage UNKNOWN = new Usage(-1, -1, -1);

  /** Tokens of a prompt or of an answer are fewer for certain. */
  private static final int MOST_TOKENS = 1 << 24;

  /** So many tokens come in one event at most. */
  private static final long MOST_PER_EVENT = 1_024;

  /** Of a response that was not streamed. */
  public Usage(int promptTokens, int completionTokens, int cachedTokens) {
    this(promptTokens, completionTokens, cachedTokens, 0);
  }

  /**
   * Tokens produced, as they were told, or by the events in which they came; -1 where nobody knows.
   *
   * @param whole whether the answer was delivered to its end: what is told before, if anything, is
   *     of its beginning
   */
  int outputTokens(boolean whole) {
    int around = Completion.EVENTS_AROUND;
    int counted = streamedEvents > around ? streamedEvents - around : -1;
    return whole && completionTokens >= 0 ? completionTokens : Math.max(completionTokens, counted);
  }

  /**
   * The same without numbers that can't be: one of them would stay in what is learned of many.
   *
   * @param maxOutputTokens that the request asks for of each answer; not above 0 if it does not say
   */
  Usage plausible(int maxOutputTokens) {
    long most = MOST_TOKENS;
    if (maxOutputTokens > 0) {
      most = Math.min(most, (long) maxOutputTokens * RequestFacts.MOST_ANSWERS);
    }
    if (streamedEvents > 0) {
      most = Math.min(most, streamedEvents * MOST_PER_EVENT);
    }
    int prompt = upTo(MOST_TOKENS, promptTokens);
    int completion = upTo(most, completionTokens);
    int cached = upTo(prompt, cachedTokens);
    return prompt == promptTokens && completion == completionTokens && cached == cachedTokens
        ? this
        : new Usage(prompt, completion, cached, streamedEvents);
  }

  private static int upTo(long most, int tokens) {
    return tokens < 0 || tokens > most ? -1 : tokens;
  }
}
