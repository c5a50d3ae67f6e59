package io.fairlead.lab.peers;

/**
 * What Dynamo's router says a request costs at a worker, in KV blocks, and how it draws by that.
 *
 * <p>Source: ai-dynamo/dynamo, {@code lib/kv-router/src/scheduling/selector.rs} at 01690d42, with
 * caches on the device alone.
 *
 * @param overlapCredit what a cached block is worth; 1 as {@code KvRouterConfig::default}
 * @param overlapCreditDecay how fast it is worth less where more prefill waits than at the least
 *     loaded, in prompts of this one's size; 0 as there
 * @param prefillScale what a block of prefill costs, in blocks of decode; 1 as there
 * @param requestWeight what a running request costs beyond its blocks; 0 as there
 * @param blockTokens tokens per block
 */
record DynamoCost(
    double overlapCredit,
    double overlapCreditDecay,
    double prefillScale,
    double requestWeight,
    int blockTokens) {

  /**
   * What a worker has.
   *
   * @param prefillTokens prompt tokens that wait there for their prefill
   * @param blocks KV blocks in use there with this request
   * @param requests running there
   * @param cachedTokens of this prompt
   */
  record Worker(long prefillTokens, double blocks, int requests, int cachedTokens) {}

  /**
   * The cost of a prompt there.
   *
   * @param promptTokens its length
   * @param leastPrefillTokens the least that wait at any worker
   */
  double of(Worker worker, int promptTokens, long leastPrefillTokens) {
    int uncached = Math.max(0, promptTokens - worker.cachedTokens());
    double raw = (worker.prefillTokens() + uncached + worker.cachedTokens()) / (double) blockTokens;
    double promptBlocks = Math.max(1, Math.ceilDiv(promptTokens, blockTokens));
    double excess = Math.max(0, worker.prefillTokens() - leastPrefillTokens) / (double) blockTokens;
    double credit = overlapCredit / (1 + overlapCreditDecay * excess / promptBlocks);
    double overlap = Math.floorDiv(worker.cachedTokens(), blockTokens);
    return prefillScale * Math.max(0, raw - credit * overlap)
        + worker.blocks()
        + requestWeight * worker.requests();
  }

  /**
   * Draws by softmax of the costs, rescaled by their range.
   *
   * @param costs one per worker
   * @param size how many of them there are
   * @param temperature above 0
   * @param sample from 0 to 1
   */
  static int softmax(double[] costs, int size, double temperature, double sample) {
    double least = Double.POSITIVE_INFINITY;
    double most = Double.NEGATIVE_INFINITY;
    for (int i = 0; i < size; i++) {
      least = Math.min(least, costs[i]);
      most = Math.max(most, costs[i]);
    }
    double range = most > least ? (most - least) * temperature : 1;
    double total = 0;
    for (int i = 0; i < size; i++) {
      total += Math.exp((least - costs[i]) / range);
    }
    double sum = 0;
    for (int i = 0; i < size; i++) {
      sum += Math.exp((least - costs[i]) / range) / total;
      if (sample <= sum) {
        return i;
      }
    }
    return size - 1;
  }
}
