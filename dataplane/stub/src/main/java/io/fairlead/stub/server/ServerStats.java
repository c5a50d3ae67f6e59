package io.fairlead.stub.server;

/**
 * What a {@link ModelServer} has done, read at one moment. {@code requests = inFlight + completed +
 * cancelled + failed}.
 *
 * @param name the server's name
 * @param requests completion requests received
 * @param inFlight of these, still being answered
 * @param completed of these, answered in full
 * @param cancelled of these, given up because the client went away or the server stopped
 * @param failed of these, answered with an error or reset on demand
 * @param running requests in the engine's batch
 * @param waiting requests in the engine's queue
 * @param kvUsage share of KV blocks in use, 0 to 1
 * @param promptTokens prompt tokens of all admitted requests
 * @param cachedTokens those of them found in the block cache
 * @param outputTokens tokens put out
 * @param preemptions how often a request was computed again for want of blocks
 * @param adapterLoads how often a LoRA adapter was loaded
 */
public record ServerStats(
    String name,
    long requests,
    long inFlight,
    long completed,
    long cancelled,
    long failed,
    int running,
    int waiting,
    double kvUsage,
    long promptTokens,
    long cachedTokens,
    long outputTokens,
    long preemptions,
    long adapterLoads) {}
