package io.fairlead.core.plugins.load;

import io.fairlead.core.plugins.compat.Producer;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;

/**
 * Prefers endpoints with few requests in flight, sent from here or by pickers that tell of theirs:
 * 1 up to {@code idleThreshold}, otherwise {@code (max - n) / max}, at most {@code maxBusyScore}.
 */
final class ActiveRequestScorer implements Scorer {

  private final int idleThreshold;
  private final double maxBusyScore;

  ActiveRequestScorer(int idleThreshold, double maxBusyScore) {
    this.idleThreshold = idleThreshold;
    this.maxBusyScore = maxBusyScore;
  }

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    int size = candidates.size();
    int max = 0;
    for (int i = 0; i < size; i++) {
      int count = candidates.get(i).inFlight();
      scores[i] = count;
      max = Math.max(max, count);
    }
    for (int i = 0; i < size; i++) {
      boolean idle = scores[i] <= idleThreshold;
      scores[i] = idle ? 1 : (max - scores[i]) / max * maxBusyScore;
    }
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "active-request-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      Producer.named(parameters, "inFlightLoadProducerName");
      parameters.ignored("requestTimeout", "a request counts until it ends");
      return new ActiveRequestScorer(
          parameters.integer("idleThreshold", 0, 0, 1_000_000),
          parameters.number("maxBusyScore", 1, 0, 1));
    }
  }
}
