package io.fairlead.core;

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
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, not compared; copying would cost per block
public record RequestFacts(
    String model,
    long seed,
    long[] blocks,
    int promptTokens,
    int maxOutputTokens,
    long bodyBytes) {}
