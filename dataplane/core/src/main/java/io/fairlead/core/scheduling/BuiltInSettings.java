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
        new Type("token-producer", TokenizerSource::read),
        new Type(KvEventsSource.TYPE, KvEventsSource::read),
        new Type("metrics-data-source", MetricsSource::read),
        new Type("core-metrics-extractor", EngineMetrics::read),
        new Type(ExternalScheduler.TYPE, ExternalScheduler::read),
        plain("endpoint-notification-source", BuiltIn.of(Part.DATA_SOURCE)),
        plain("topology-extractor", BuiltIn.of(Part.EXTRACTOR)),
        plain("disagg-headers-handler", BuiltIn.of(Part.HEADERS)),
        plain("prefill-header-handler", BuiltIn.of(Part.HEADERS)),
        plain("openai-parser", BuiltIn.of(Part.PARSER)),
        plain("anthropic-parser", BuiltIn.of(Part.PARSER)),
        plain("sheddable-eviction-filter", BuiltIn.of(Part.EVICTION)),
        plain("priority-then-time-eviction-order-policy", BuiltIn.of(Part.EVICTION)));
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
