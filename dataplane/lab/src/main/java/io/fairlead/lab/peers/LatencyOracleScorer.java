package io.fairlead.lab.peers;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import io.fairlead.stub.engine.EngineProfile;
import java.util.Arrays;

/**
 * llm-d's {@code latency-scorer} for requests without an objective, with an ideal predictor: an
 * <b>oracle</b>, as it looks at the engines' own speeds, which nobody can do in production.
 *
 * <p>Without objectives every prediction misses. Where servers are idle, only those count; of the
 * ones that count, time to first token (weight 0.8) and per token (0.2) are brought to 0 to 1 over
 * their range, the one without a range left out, and the least gets the highest score, in steps of
 * a hundredth.
 *
 * <p>Source: llm-d/llm-d-router, {@code
 * pkg/epp/framework/plugins/scheduling/scorer/latency/plugin.go} at 2b0e7579; the same weights are
 * in the chart of kubernetes-sigs/gateway-api-inference-extension, {@code
 * config/charts/inference-extension/templates/_config.yaml} at 8e809af7.
 */
final class LatencyOracleScorer implements Scorer {

  private static final double TTFT_WEIGHT = 0.8;
  private static final double TPOT_WEIGHT = 0.2;
  private static final double NO_RANGE = 1e-9;
  private static final int STEPS = 100;

  private final PoolHardware hardware;
  private double[] ttft = {};
  private double[] tpot = {};
  private boolean[] counts = {};

  LatencyOracleScorer(PoolHardware hardware) {
    this.hardware = hardware;
  }

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    int size = candidates.size();
    if (ttft.length < size) {
      ttft = new double[size + size / 2];
      tpot = new double[ttft.length];
      counts = new boolean[ttft.length];
    }
    boolean idle = false;
    for (int i = 0; i < size; i++) {
      Endpoint endpoint = candidates.get(i);
      EngineProfile engine = hardware.of(endpoint);
      int cached = candidates.cachedTokens(i);
      ttft[i] = firstTokenMillis(engine, endpoint, request.promptTokens() - cached, cached);
      tpot[i] = stepMillis(engine, endpoint, request.promptTokens());
      counts[i] = endpoint.inFlight() == 0;
      idle |= counts[i];
    }
    if (!idle) {
      Arrays.fill(counts, 0, size, true);
    }
    rank(ttft, tpot, counts, size, scores);
  }

  /** Fills in scores by what is predicted, 0 for those that don't count. */
  static void rank(double[] ttft, double[] tpot, boolean[] counts, int size, double[] scores) {
    Range first = Range.of(ttft, counts, size);
    Range each = Range.of(tpot, counts, size);
    double alpha = TTFT_WEIGHT;
    double beta = TPOT_WEIGHT;
    if (!first.any() && each.any()) {
      alpha = 0;
      beta = 1;
    } else if (first.any() && !each.any()) {
      alpha = 1;
      beta = 0;
    }
    for (int i = 0; i < size; i++) {
      double combined = alpha * first.place(ttft[i]) + beta * each.place(tpot[i]);
      // The highest is 1.01 there; no order hangs on it.
      double steps = (int) ((1 - combined) * STEPS) + 1;
      scores[i] = counts[i] ? steps / (STEPS + 1) : 0;
    }
  }

  private record Range(double least, double most) {

    static Range of(double[] values, boolean[] counts, int size) {
      double least = Double.POSITIVE_INFINITY;
      double most = Double.NEGATIVE_INFINITY;
      for (int i = 0; i < size; i++) {
        if (counts[i]) {
          least = Math.min(least, values[i]);
          most = Math.max(most, values[i]);
        }
      }
      return new Range(least, most);
    }

    boolean any() {
      return most - least > NO_RANGE;
    }

    double place(double value) {
      return any() ? (value - least) / (most - least) : 0.5;
    }
  }

  /** Until a prompt's first token, behind those that wait, its engine's own constants taken. */
  private static double firstTokenMillis(
      EngineProfile engine, Endpoint endpoint, double uncached, double cached) {
    double tokens = endpoint.prefills().uncachedTokens() + uncached;
    double attention = endpoint.prefills().attention() + uncached * (cached + uncached / 2);
    double steps = Math.max(1, Math.ceil(tokens / engine.maxBatchedTokens()));
    double decoding = engine.d1() * endpoint.decoding() + engine.d2() * endpoint.inFlightTokens();
    return steps * (engine.a() + decoding) + engine.b() * tokens + engine.c() * attention;
  }

  private static double stepMillis(EngineProfile engine, Endpoint endpoint, double promptTokens) {
    return engine.d0()
        + engine.d1() * (endpoint.inFlight() + 1)
        + engine.d2() * (endpoint.inFlightTokens() + promptTokens);
  }

  static final class Factory implements PluginFactory {

    private final PoolHardware hardware;

    Factory(PoolHardware hardware) {
      this.hardware = hardware;
    }

    @Override
    public String type() {
      return "latency-oracle-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new LatencyOracleScorer(hardware);
    }
  }
}
