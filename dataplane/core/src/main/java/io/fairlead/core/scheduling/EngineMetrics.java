package io.fairlead.core.scheduling;

import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Setting;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * How servers' metrics pages are read: upstream's {@code core-metrics-extractor}.
 *
 * @param labelKeys pod labels that name the engine; the first that is there counts
 * @param defaultEngine the engine of a pod that names none
 * @param engines names of metrics by engine; they replace those that are built in
 * @param custom further numbers to read, of every engine
 */
public record EngineMetrics(
    List<String> labelKeys,
    String defaultEngine,
    Map<String, EngineSeries> engines,
    List<Custom> custom)
    implements Setting {

  /** Engines whose names of metrics are known without a document. */
  public static final List<String> BUILT_IN =
      List.of("vllm", "sglang", "trtllm-serve", "triton-tensorrt-llm", "triton");

  /** The built-in engines, vLLM where a pod does not say. */
  public static final EngineMetrics DEFAULT =
      new EngineMetrics(
          List.of("llm-d.ai/engine-type", "inference.networking.k8s.io/engine-type"),
          "vllm",
          Map.of(),
          List.of());

  public EngineMetrics {
    labelKeys = List.copyOf(labelKeys);
    engines = Map.copyOf(engines);
    custom = List.copyOf(custom);
  }

  /**
   * One more number.
   *
   * @param key what plugins know it by
   * @param series where it stands
   */
  public record Custom(String key, Series series) {}

  static EngineMetrics read(Parameters parameters) {
    String labelKey = parameters.text("engineLabelKey", "");
    String engine = parameters.text("defaultEngine", DEFAULT.defaultEngine);
    Map<String, EngineSeries> engines = new LinkedHashMap<>();
    for (Parameters config : parameters.objects("engineConfigs")) {
      String name = config.text("name", "");
      if (name.isEmpty()) {
        throw config.invalid("name", "is missing; set the engine's name, as pods' labels have it");
      }
      if (name.equals("default")) {
        throw config.invalid("name", "is \"default\", which is reserved; name the engine");
      }
      if (engines.put(name, EngineSeries.read(config)) != null) {
        throw config.invalid("name", "is \"" + name + "\" twice; keep one entry of each engine");
      }
    }
    if (!engines.containsKey(engine) && !BUILT_IN.contains(engine)) {
      TreeSet<String> known = new TreeSet<>(BUILT_IN);
      known.addAll(engines.keySet());
      throw parameters.invalid(
          "defaultEngine",
          "is \"" + engine + "\"; name one of " + String.join(", ", known) + ", or configure it");
    }
    return new EngineMetrics(
        labelKey.isEmpty() ? DEFAULT.labelKeys : List.of(labelKey),
        engine,
        engines,
        custom(parameters));
  }

  private static List<Custom> custom(Parameters parameters) {
    List<Custom> custom = new ArrayList<>();
    for (Parameters metric : parameters.objects("customMetrics")) {
      String key = metric.text("attributeKey", "");
      if (key.isEmpty()) {
        throw metric.invalid("attributeKey", "is missing; set the key that plugins know it by");
      }
      String spec = metric.text("metricSpec", "");
      if (spec.isEmpty()) {
        throw metric.invalid(
            "metricSpec", "is missing; set the series, e.g. name{label=\"value\"}");
      }
      if (custom.stream().anyMatch(known -> known.key().equals(key))) {
        throw metric.invalid("attributeKey", "is \"" + key + "\" twice; give each its own");
      }
      custom.add(new Custom(key, EngineSeries.required(metric, "metricSpec", spec)));
    }
    return custom;
  }
}
