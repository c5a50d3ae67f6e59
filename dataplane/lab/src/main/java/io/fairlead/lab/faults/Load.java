package io.fairlead.lab.faults;

import io.fairlead.crds.config.Criticality;
import io.fairlead.lab.workload.Arrival;
import io.fairlead.lab.workload.MixedWorkload;
import io.fairlead.lab.workload.MixedWorkload.ModelShare;
import io.fairlead.lab.workload.Traffic;
import java.util.List;

/**
 * What is sent in a scenario, open loop.
 *
 * @param ratePerSecond Poisson arrivals, or of bursts their requests
 * @param burst requests that come together, {@link #IN_BURST_NANOS} apart; 1 for none
 * @param streamShare share that asks for a stream
 * @param sharedTokens tokens that prompts of one group begin with; 0 when they share nothing
 * @param outputTokens mean length of an answer
 * @param criticality of the model that is configured
 * @param unconfiguredShare share of requests for a model that is not
 */
record Load(
    double ratePerSecond,
    int burst,
    double streamShare,
    int sharedTokens,
    int outputTokens,
    Criticality criticality,
    double unconfiguredShare) {

  private static final int GROUPS = 20;
  private static final int QUESTION_TOKENS = 60;

  /** 50 requests in 125 ms. */
  private static final long IN_BURST_NANOS = 2_500_000;

  /** Half of it streamed, short, for the configured model. */
  static Load of(double ratePerSecond) {
    return new Load(ratePerSecond, 1, 0.5, 200, 16, Criticality.STANDARD, 0);
  }

  Traffic start(long seed) {
    Traffic poisson =
        new MixedWorkload(
                new MixedWorkload.Spec(
                    List.of(
                        new ModelShare(PoolFiles.MODEL, 1 - unconfiguredShare),
                        new ModelShare(PoolFiles.UNCONFIGURED, unconfiguredShare)),
                    ratePerSecond,
                    GROUPS,
                    sharedTokens,
                    QUESTION_TOKENS,
                    outputTokens))
            .start(seed);
    return burst == 1 ? poisson : new Bursts(poisson);
  }

  /** The same requests, in bursts at the same rate. */
  private final class Bursts implements Traffic {

    private final Traffic requests;
    private long number;

    Bursts(Traffic requests) {
      this.requests = requests;
    }

    @Override
    public Arrival next() {
      Arrival plain = requests.next();
      if (plain == null) {
        throw new IllegalStateException("Poisson arrivals have no end");
      }
      long nth = number / burst + 1;
      long at = (long) (nth * burst / ratePerSecond * 1e9) + number % burst * IN_BURST_NANOS;
      number++;
      return new Arrival(at, plain.request());
    }
  }
}
