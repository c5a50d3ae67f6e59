package io.fairlead.stub.engine;

import java.util.List;

/**
 * What an engine tells of itself, as of the end of its last step. vLLM writes these numbers once a
 * step, after the step's requests have ended: what arrives while a step runs is not in them before
 * the next one has ended.
 *
 * @param running requests in the batch that go on after the step
 * @param waiting requests that the step left in the queue; those that came since are not counted
 * @param deferred those of {@code waiting} that were passed over since their adapter has no slot
 * @param usedBlocks blocks that running requests hold
 * @param promptTokens prompt tokens of all requests admitted so far
 * @param cachedTokens those of {@code promptTokens} that the block cache held
 * @param transferredTokens those of {@code promptTokens} that came with the request
 * @param outputTokens tokens put out so far
 * @param preemptions how often a request lost its blocks to an older one
 * @param runningAdapters adapters that running requests use, by name
 */
public record SchedulerStats(
    int running,
    int waiting,
    int deferred,
    int usedBlocks,
    long promptTokens,
    long cachedTokens,
    long transferredTokens,
    long outputTokens,
    long preemptions,
    List<String> runningAdapters) {

  /** Those of {@code waiting} that wait for a seat or for blocks. */
  public int lackingCapacity() {
    return waiting - deferred;
  }
}
