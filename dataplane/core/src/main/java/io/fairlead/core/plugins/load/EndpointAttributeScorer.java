package io.fairlead.core.plugins.load;

import io.fairlead.core.plugins.compat.Producer;
import io.fairlead.core.plugins.compat.Texts;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.util.List;

/**
 * Prefers a low or a high value of one number that a data source reports under {@code
 * attributeKey}: where it lies between {@code fixedRange}'s ends or, without one, between the
 * lowest and the highest of the candidates; 1 for all known when those are equal. 0 where it is
 * unknown.
 */
final class EndpointAttributeScorer implements Scorer {

  private final String key;
  private final boolean lowIsGood;
  private final boolean fixed;
  private final double fixedMin;
  private final double fixedMax;

  private EndpointAttributeScorer(
      String key, boolean lowIsGood, boolean fixed, double fixedMin, double fixedMax) {
    this.key = key;
    this.lowIsGood = lowIsGood;
    this.fixed = fixed;
    this.fixedMin = fixedMin;
    this.fixedMax = fixedMax;
  }

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    int size = candidates.size();
    double min = fixed ? fixedMin : Double.POSITIVE_INFINITY;
    double max = fixed ? fixedMax : Double.NEGATIVE_INFINITY;
    for (int i = 0; i < size; i++) {
      double value = candidates.get(i).metric(key);
      scores[i] = value;
      if (!fixed && Double.isFinite(value)) {
        min = Math.min(min, value);
        max = Math.max(max, value);
      }
    }
    for (int i = 0; i < size; i++) {
      scores[i] = Double.isFinite(scores[i]) ? share(scores[i], min, max) : 0;
    }
  }

  private double share(double value, double min, double max) {
    if (min == max) {
      return 1;
    }
    double share = Math.clamp((value - min) / (max - min), 0, 1);
    return lowIsGood ? 1 - share : share;
  }

  static final class Factory implements PluginFactory {

    private static final double LARGEST = 1e15;

    @Override
    public String type() {
      return "endpoint-attribute-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      Producer.named(parameters, "producer");
      String key = Texts.required(parameters, "attributeKey");
      Parameters algorithm = parameters.object("algorithm");
      Texts.required(algorithm, "type");
      boolean low =
          algorithm
              .choice("type", "", List.of("linear_lower_is_better", "linear_higher_is_better"))
              .equals("linear_lower_is_better");
      Parameters normalization = algorithm.object("normalization");
      normalization.object("adaptiveRange");
      if (!normalization.has("fixedRange")) {
        return new EndpointAttributeScorer(key, low, false, 0, 0);
      }
      if (normalization.has("adaptiveRange")) {
        throw normalization.invalid("adaptiveRange", "is set beside fixedRange; keep one");
      }
      Parameters range = normalization.object("fixedRange");
      double min = range.number("min", 0, -LARGEST, LARGEST);
      double max = range.number("max", 0, -LARGEST, LARGEST);
      if (min >= max) {
        throw range.invalid("max", "is " + max + "; set a number above min, which is " + min);
      }
      return new EndpointAttributeScorer(key, low, true, min, max);
    }
  }
}
