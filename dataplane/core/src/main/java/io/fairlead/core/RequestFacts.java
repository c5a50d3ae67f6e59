package io.fairlead.core;

import org.jspecify.annotations.Nullable;

/**
 * What the core knows of a request: sizes, hashes and names, never its text. Made on the
 * connection's loop, handed over once.
 *
 * @param model the model as asked for; empty for calls that name none (they go to any endpoint)
 * @param seed random bits for this request's draws and ties
 * @param blocks chained hashes of the prompt's whole blocks, first block first; owned by the core
 *     from here on
 * @param promptTokens estimated length of the prompt
 * @param maxOutputTokens the request's own limit, or -1
 * @param bodyBytes size of the request body
 * @param headers the request's headers
 * @param subset the endpoints that the gateway allows, or null for all
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, not compared; copying would cost per block
public record RequestFacts(
    String model,
    long seed,
    long[] blocks,
    int promptTokens,
    int maxOutputTokens,
    long bodyBytes,
    RequestHeaders headers,
    @Nullable Subset subset) {

  /** A request without headers that may go to any endpoint. */
  public RequestFacts(
      String model,
      long seed,
      long[] blocks,
      int promptTokens,
      int maxOutputTokens,
      long bodyBytes) {
    this(model, seed, blocks, promptTokens, maxOutputTokens, bodyBytes, RequestHeaders.NONE, null);
  }
}
