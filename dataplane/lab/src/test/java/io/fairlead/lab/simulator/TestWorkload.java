package io.fairlead.lab.simulator;

import io.fairlead.crds.config.Criticality;
import io.fairlead.lab.workload.Arrival;
import io.fairlead.lab.workload.RequestShape;
import io.fairlead.lab.workload.ServedModel;
import io.fairlead.lab.workload.Traffic;
import io.fairlead.lab.workload.Workload;
import java.util.List;
import java.util.SplittableRandom;

/** Groups that share the first half of their prompts, Poisson arrivals. */
record TestWorkload(double rate, int groups, int promptTokens, int outputTokens)
    implements Workload {

  @Override
  public String name() {
    return "test";
  }

  @Override
  public List<ServedModel> models() {
    return List.of(new ServedModel("m", Criticality.STANDARD, false));
  }

  @Override
  public Traffic start(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    return new Traffic() {
      private double at;

      @Override
      public Arrival next() {
        at += -Math.log1p(-random.nextDouble()) * 1e9 / rate;
        long[] blocks = new long[(promptTokens + outputTokens) / RequestShape.BLOCK_TOKENS];
        long group = random.nextInt(groups);
        for (int i = 0; i < blocks.length; i++) {
          boolean shared = i < promptTokens / RequestShape.BLOCK_TOKENS / 2;
          blocks[i] = shared ? (group + 1) * 1_000_003 + i : random.nextLong();
        }
        int[] messages = {0, promptTokens / 2, promptTokens / 2, promptTokens};
        return new Arrival(
            (long) at, new RequestShape("m", "", blocks, promptTokens, outputTokens, messages));
      }
    };
  }
}
