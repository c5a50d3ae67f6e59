package io.fairlead.lab.peers;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Picker;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.Arrays;

/**
 * Dynamo's KV router: the least {@link DynamoCost}, any of those with the least, or a draw by
 * softmax where {@code temperature} is above 0. Weights and the temperature of 0 are those of
 * {@code KvRouterConfig::default}, ai-dynamo/dynamo {@code lib/kv-router/src/scheduling/config.rs}
 * at 0243c51b.
 *
 * <p>It is told what caches hold by the engines' events; here it goes by the scheduler's own index
 * of what was sent. Blocks in use are those of the prompts in flight, as there by default: answers
 * are not counted.
 */
final class DynamoPicker implements Picker, Observer {

  private static final long PURPOSE = 0x6479_6e61;
  private static final int BLOCK_TOKENS = 16;

  private final DynamoCost cost;
  private final double temperature;
  private final ActiveBlocks active = new ActiveBlocks();
  private double[] costs = {};

  DynamoPicker(DynamoCost cost, double temperature) {
    this.cost = cost;
    this.temperature = temperature;
  }

  @Override
  public int pick(InferenceRequest request, Candidates candidates, double[] scores, int[] picked) {
    int size = candidates.size();
    if (costs.length < size) {
      costs = Arrays.copyOf(costs, size + size / 2);
    }
    long least = Long.MAX_VALUE;
    for (int i = 0; i < size; i++) {
      least = Math.min(least, candidates.get(i).prefills().uncachedTokens());
    }
    int promptTokens = request.promptTokens();
    for (int i = 0; i < size; i++) {
      Endpoint endpoint = candidates.get(i);
      costs[i] =
          cost.of(
              new DynamoCost.Worker(
                  endpoint.prefills().uncachedTokens(),
                  active.with(request, endpoint),
                  endpoint.inFlight(),
                  candidates.matchedBlocks(i) * BLOCK_TOKENS),
              promptTokens,
              least);
    }
    picked[0] =
        temperature > 0
            ? DynamoCost.softmax(
                costs, size, temperature, request.draw(PURPOSE, 1L << 53) * 0x1p-53)
            : Loads.anyLeast(request, size, _ -> true, i -> costs[i]);
    return 1;
  }

  @Override
  public void joined(Endpoint endpoint) {
    active.joined(endpoint);
  }

  @Override
  public void dispatched(InferenceRequest request, Endpoint endpoint, HeaderWriter headers) {
    active.sent(request, endpoint);
  }

  @Override
  public void completed(Completion completion) {
    active.completed(completion);
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "dynamo-picker";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new DynamoPicker(
          new DynamoCost(
              parameters.number("overlapScoreCredit", 1, 0, 1),
              parameters.number("overlapScoreCreditDecay", 0, 0, 1_000),
              parameters.number("prefillLoadScale", 1, 0, 1_000),
              parameters.number("decodeActiveRequestWeight", 0, 0, 1e6),
              BLOCK_TOKENS),
          parameters.number("temperature", 0, 0, 1_000));
    }
  }
}
