package io.fairlead.core.plugins.load;

import io.fairlead.core.plugins.compat.Kept;
import io.fairlead.core.plugins.compat.Producer;
import io.fairlead.core.plugins.compat.Texts;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Keeps endpoints of which no measure is above its {@code maxValue}. Unknown KV cache usage is not
 * above any.
 */
final class UtilizationFilter implements Filter {

  private final Condition[] conditions;
  private final boolean fallBack;

  enum Metric {
    ACTIVE_REQUESTS("active-requests"),
    RUNNING_REQUESTS("running-requests"),
    WAITING_QUEUE("waiting-queue"),
    KV_CACHE_UTILIZATION("kv-cache-utilization");

    private final String text;

    Metric(String text) {
      this.text = text;
    }

    double of(Endpoint endpoint) {
      return switch (this) {
        case ACTIVE_REQUESTS -> endpoint.inFlight();
        case RUNNING_REQUESTS -> Math.max(endpoint.scrapedRunning(), endpoint.decoding());
        case WAITING_QUEUE -> endpoint.queueDepth();
        case KV_CACHE_UTILIZATION -> endpoint.kvUsage();
      };
    }
  }

  record Condition(Metric metric, double max) {}

  UtilizationFilter(List<Condition> conditions, boolean fallBack) {
    this.conditions = conditions.toArray(Condition[]::new);
    this.fallBack = fallBack;
  }

  @Override
  public void filter(InferenceRequest request, Candidates candidates, boolean[] keep) {
    int size = candidates.size();
    for (Condition condition : conditions) {
      for (int i = 0; i < size; i++) {
        keep[i] &= !(condition.metric().of(candidates.get(i)) > condition.max());
      }
    }
    if (fallBack) {
      Kept.allIfNone(keep, size);
    }
  }

  @Override
  public String keeps() {
    return Arrays.stream(conditions)
        .map(condition -> condition.metric().text + " of at most " + condition.max())
        .collect(Collectors.joining(" and ", "endpoints with ", ""));
  }

  static final class Factory implements PluginFactory {

    private static final List<Metric> METRICS = List.of(Metric.values());

    @Override
    public String type() {
      return "utilization-filter";
    }

    @Override
    public Plugin create(Parameters parameters) {
      Producer.named(parameters, "inFlightLoadProducerName");
      List<Condition> conditions =
          parameters.objects("conditions").stream().map(Factory::condition).toList();
      if (conditions.isEmpty()) {
        throw parameters.invalid("conditions", "is empty; set at least one metric and maxValue");
      }
      return new UtilizationFilter(conditions, parameters.flag("fallbackOnEmpty", false));
    }

    private static Condition condition(Parameters parameters) {
      List<String> names = METRICS.stream().map(metric -> metric.text).toList();
      Texts.required(parameters, "metric");
      Metric metric = METRICS.get(names.indexOf(parameters.choice("metric", "", names)));
      if (!parameters.has("maxValue")) {
        throw parameters.invalid("maxValue", "is not set; set a number");
      }
      return new Condition(metric, parameters.number("maxValue", 0, 0, 1e9));
    }
  }
}
