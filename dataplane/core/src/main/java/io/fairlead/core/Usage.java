package io.fairlead.core;

/**
 * Token counts as the endpoint reported them; -1 where it did not.
 *
 * @param promptTokens length of the prompt
 * @param completionTokens tokens produced
 * @param cachedTokens prompt tokens found in the KV cache
 */
public record Usage(int promptTokens, int completionTokens, int cachedTokens) {

  /** Nothing was reported. */
  public static final Usage UNKNOWN = new Usage(-1, -1, -1);
}
