package io.fairlead.core.plugins.load;

import io.fairlead.core.plugins.compat.Kept;
import io.fairlead.core.plugins.compat.Producer;
import io.fairlead.core.plugins.compat.Texts;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.List;

/**
 * Keeps endpoints for which a number that a data source reports under {@code attribute} compares as
 * configured; those for which it is unknown unless {@code onMissing} is {@code Fail}.
 */
final class EndpointAttributeFilter implements Filter {

  private final String key;
  private final boolean keepsUnknown;
  private final boolean fallBack;
  private final Operator operator;
  private final double threshold;

  enum Operator {
    LESS_THAN("LessThan"),
    LESS_THAN_OR_EQUAL("LessThanOrEqual"),
    GREATER_THAN("GreaterThan"),
    GREATER_THAN_OR_EQUAL("GreaterThanOrEqual"),
    EQUAL("Equal"),
    NOT_EQUAL("NotEqual");

    private final String text;

    Operator(String text) {
      this.text = text;
    }

    boolean holds(double value, double threshold) {
      return switch (this) {
        case LESS_THAN -> value < threshold;
        case LESS_THAN_OR_EQUAL -> value <= threshold;
        case GREATER_THAN -> value > threshold;
        case GREATER_THAN_OR_EQUAL -> value >= threshold;
        case EQUAL -> value == threshold;
        case NOT_EQUAL -> value != threshold;
      };
    }
  }

  EndpointAttributeFilter(
      String key, boolean keepsUnknown, boolean fallBack, Operator operator, double threshold) {
    this.key = key;
    this.keepsUnknown = keepsUnknown;
    this.fallBack = fallBack;
    this.operator = operator;
    this.threshold = threshold;
  }

  @Override
  public void filter(InferenceRequest request, Candidates candidates, boolean[] keep) {
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      double value = candidates.get(i).metric(key);
      keep[i] = Double.isNaN(value) ? keepsUnknown : operator.holds(value, threshold);
    }
    if (fallBack) {
      Kept.allIfNone(keep, size);
    }
  }

  @Override
  public String keeps() {
    return "endpoints with %s %s %s%s"
        .formatted(
            key, operator.text, threshold, keepsUnknown ? ", or of which it is unknown" : "");
  }

  static final class Factory implements PluginFactory {

    private static final List<Operator> OPERATORS = List.of(Operator.values());

    @Override
    public String type() {
      return "endpoint-attribute-filter";
    }

    @Override
    public Plugin create(Parameters parameters) {
      Producer.named(parameters, "producer");
      Parameters algorithm = parameters.object("algorithm");
      algorithm.choice("type", "threshold", List.of("threshold"));
      Parameters threshold = algorithm.object("threshold");
      Texts.required(threshold, "operator");
      List<String> names = OPERATORS.stream().map(o -> o.text).toList();
      Operator operator = OPERATORS.get(names.indexOf(threshold.choice("operator", "", names)));
      if (!threshold.has("value")) {
        throw threshold.invalid("value", "is not set; set a number");
      }
      return new EndpointAttributeFilter(
          Texts.required(parameters, "attribute"),
          parameters.choice("onMissing", "Pass", List.of("Pass", "Fail")).equals("Pass"),
          parameters.flag("fallbackOnEmpty", false),
          operator,
          threshold.number("value", 0, -1e15, 1e15));
    }
  }
}
