package io.fairlead.core;

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

  /** Of a response that was not streamed. */
  public Usage(int promptTokens, int completionTokens, int cachedTokens) {
    this(promptTokens, completionTokens, cachedTokens, 0);
  }
}
