package io.fairlead.lab.load;

import io.fairlead.lab.workload.MixedWorkload;
import io.fairlead.lab.workload.MixedWorkload.ModelShare;
import io.fairlead.lab.workload.Workload;
import java.util.List;

/** What load runs send: questions behind a few long beginnings, answered shortly. */
final class MixedRequests {

  private static final int GROUPS = 20;
  private static final int SYSTEM_TOKENS = 200;
  private static final int QUESTION_TOKENS = 60;
  private static final int OUTPUT_TOKENS = 16;

  private MixedRequests() {}

  /** For one model, so often a second on average. */
  static Workload of(String model, double ratePerSecond) {
    return new MixedWorkload(
        new MixedWorkload.Spec(
            List.of(new ModelShare(model, 1)),
            ratePerSecond,
            GROUPS,
            SYSTEM_TOKENS,
            QUESTION_TOKENS,
            OUTPUT_TOKENS));
  }
}
