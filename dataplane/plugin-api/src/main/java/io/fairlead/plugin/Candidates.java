package io.fairlead.plugin;

/** The endpoints that one request may still go to. Valid only during the call it is passed to. */
public interface Candidates {

  /** How many there are; 0 when filters have left nobody. */
  int size();

  /** Candidate {@code index}, from 0 to {@code size() - 1}. */
  Endpoint get(int index);

  /**
   * How many leading blocks of the request's prompt this candidate's KV cache is believed to hold;
   * from 0 to {@link InferenceRequest#blockCount()}. Computed once per request, on first use.
   */
  int matchedBlocks(int index);

  /**
   * How many tokens of the prompt that is: {@code matchedBlocks} in proportion of the prompt's
   * estimated length, less one if all of it is matched, as engines always compute the last token.
   */
  int cachedTokens(int index);
}
