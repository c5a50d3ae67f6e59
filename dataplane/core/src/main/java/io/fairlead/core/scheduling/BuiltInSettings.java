package io.fairlead.core.scheduling;

import io.fairlead.core.scheduling.BuiltIn.Part;
import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.List;
import java.util.function.Function;

/**
 * Upstream's types whose work is built in. A parameter is carried out, or may only say what is done
 * anyway: none is read and forgotten.
 */
final class BuiltInSettings {

  private static final int MANY = 1 << 30;

  private BuiltInSettings() {}

  private record Type(String type, Function<Parameters, Plugin> make) implements PluginFactory {
    @Override
    public Plugin create(Parameters parameters) {
      return make.apply(parameters);
    }
  }

  static List<PluginFactory> factories() {
    return List.of(
        new Type("approx-prefix-cache-producer", PrefixSettings::read),
        new Type("inflight-load-producer", BuiltInSettings::inFlight),
        plain("token-producer", BuiltIn.of(Part.PRODUCER)),
        new Type("metrics-data-source", MetricsSource::read),
        new Type("core-metrics-extractor", EngineMetrics::read),
        plain("endpoint-notification-source", BuiltIn.of(Part.DATA_SOURCE)),
        plain("topology-extractor", BuiltIn.of(Part.EXTRACTOR)),
        plain("disagg-headers-handler", BuiltIn.of(Part.HEADERS)),
        plain("prefill-header-handler", BuiltIn.of(Part.HEADERS)),
        plain("openai-parser", BuiltIn.of(Part.PARSER)),
        plain("anthropic-parser", BuiltIn.of(Part.PARSER)),
        plain("fcfs-ordering-policy", BuiltIn.of(Part.ORDERING_POLICY)),
        plain("edf-ordering-policy", BuiltIn.later(Part.ORDERING_POLICY)),
        plain("slo-deadline-ordering-policy", BuiltIn.later(Part.ORDERING_POLICY)),
        plain("global-strict-fairness-policy", BuiltIn.of(Part.FAIRNESS_POLICY)),
        plain("round-robin-fairness-policy", BuiltIn.later(Part.FAIRNESS_POLICY)),
        new Type("program-aware-fairness", BuiltInSettings::programAware),
        new Type("static-usage-limit-policy", BuiltInSettings::staticLimit),
        new Type("priority-holdback-policy", BuiltInSettings::holdback),
        plain("soft-reflective-ceiling-policy", BuiltIn.later(Part.USAGE_LIMIT_POLICY)),
        plain("sheddable-eviction-filter", BuiltIn.later(Part.EVICTION)),
        plain("priority-then-time-eviction-order-policy", BuiltIn.later(Part.EVICTION)));
  }

  private static PluginFactory plain(String type, BuiltIn made) {
    return new Type(type, parameters -> made);
  }

  private static Plugin inFlight(Parameters parameters) {
    only(
        parameters,
        "addEstimatedOutputTokens",
        false,
        "the load in flight is counted in prompt" + " tokens");
    // These say how to estimate output tokens, and how to share counts: neither is switched on.
    parameters.number("outputRatio", 1.5, 0, MANY);
    parameters.integer("maxEstimatedOutputTokens", 0, 0, MANY);
    parameters.flag("syncCrossReplicaState", true);
    return BuiltIn.of(Part.PRODUCER);
  }

  private static Plugin programAware(Parameters parameters) {
    parameters.choice("strategy", "las", List.of("las"));
    parameters.number("lasWeightService", 0.8, 0, 1);
    parameters.number("lasWeightHeadWait", 0.2, 0, 1);
    parameters.number("lasHalfLifeSeconds", 60, 0.001, MANY);
    parameters.number("evictionTtlSeconds", 3600, 1, MANY);
    parameters.number("evictionSweepSeconds", 300, 1, MANY);
    return BuiltIn.later(Part.FAIRNESS_POLICY);
  }

  private static Plugin staticLimit(Parameters parameters) {
    double threshold = parameters.number("threshold", 1, 0, 1);
    return new BuiltIn(Part.USAGE_LIMIT_POLICY, threshold != 1);
  }

  private static Plugin holdback(Parameters parameters) {
    parameters.choice("shape", "linear", List.of("linear"));
    parameters.choice("domain", "rank", List.of("rank", "value"));
    double least = parameters.number("minCeiling", 0, 0, 1);
    double most = parameters.number("maxCeiling", 1, 0, 1);
    if (!parameters.has("minCeiling")) {
      throw parameters.invalid("minCeiling", "is missing; set a number from 0 to 1");
    }
    if (least > most) {
      throw parameters.invalid(
          "minCeiling", "is " + least + ", above maxCeiling; set no more than " + most);
    }
    return BuiltIn.later(Part.USAGE_LIMIT_POLICY);
  }

  private static void only(Parameters parameters, String field, boolean only, String why) {
    if (parameters.flag(field, only) != only) {
      throw ignored(parameters, field, String.valueOf(!only), "set " + only + " or", why);
    }
  }

  private static InvalidParameterException ignored(
      Parameters parameters, String field, String value, String instead, String why) {
    return parameters.invalid(
        field, "is " + value + ", but " + why + "; " + instead + " remove it");
  }
}
