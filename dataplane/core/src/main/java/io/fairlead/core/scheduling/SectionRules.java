package io.fairlead.core.scheduling;

import io.fairlead.core.scheduling.BuiltIn.Part;
import io.fairlead.core.scheduling.PluginSet.Made;
import io.fairlead.crds.config.DataLayerConfig;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.ImpliedTypes;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.plugin.DataSource;
import io.fairlead.plugin.FairnessPolicy;
import io.fairlead.plugin.OrderingPolicy;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.Setting;
import io.fairlead.plugin.UsageLimitPolicy;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Holds upstream's sections beside plugins and profiles against the plugins: each reference must be
 * to one that does what the section wants.
 */
final class SectionRules {

  /** Parts that a plugin from a jar may play, since only their own code knows of them. */
  private static final Set<Part> OPEN =
      EnumSet.of(Part.DATA_SOURCE, Part.EXTRACTOR, Part.DISCOVERY, Part.SYNCER);

  private final PluginSet plugins;
  private final Problems problems;

  SectionRules(PluginSet plugins, Problems problems) {
    this.plugins = plugins;
    this.problems = problems;
  }

  void check(SchedulerConfig config) {
    FlowControlConfig flow = config.flowControl();
    if (flow != null) {
      flowControl("scheduler.flowControl", flow);
    }
    DataLayerConfig data = config.dataLayer();
    if (data != null) {
      dataLayer("scheduler.dataLayer", data);
    }
    for (int i = 0; i < config.parsers().size(); i++) {
      String parser = config.parsers().get(i);
      String path = "scheduler.requestHandler.parsers[" + i + "].pluginRef";
      part(path, parser, Part.PARSER, ImpliedTypes.PARSER);
    }
  }

  private void flowControl(String path, FlowControlConfig flow) {
    part(
        path + ".usageLimitPolicyPluginRef",
        flow.usageLimitPolicy(),
        Part.USAGE_LIMIT_POLICY,
        ImpliedTypes.USAGE_LIMIT_POLICY);
    band(path + ".defaultPriorityBand", flow.defaultPriorityBand());
    band(path + ".defaultNegativePriorityBand", flow.defaultNegativePriorityBand());
    for (int i = 0; i < flow.priorityBands().size(); i++) {
      band(path + ".priorityBands[" + i + "]", flow.priorityBands().get(i));
    }
  }

  private void band(String path, FlowControlConfig.@Nullable Band band) {
    if (band != null) {
      part(
          path + ".fairnessPolicyRef",
          band.fairnessPolicy(),
          Part.FAIRNESS_POLICY,
          ImpliedTypes.FAIRNESS_POLICY);
      part(
          path + ".orderingPolicyRef",
          band.orderingPolicy(),
          Part.ORDERING_POLICY,
          ImpliedTypes.ORDERING_POLICY);
    }
  }

  private void dataLayer(String path, DataLayerConfig data) {
    for (int i = 0; i < data.sources().size(); i++) {
      DataLayerConfig.Source source = data.sources().get(i);
      String at = path + ".sources[" + i + "]";
      part(at + ".pluginRef", source.pluginRef(), Part.DATA_SOURCE, ImpliedTypes.DATA_SOURCE);
      for (int j = 0; j < source.extractors().size(); j++) {
        part(
            at + ".extractors[" + j + "].pluginRef",
            source.extractors().get(j),
            Part.EXTRACTOR,
            ImpliedTypes.EXTRACTOR);
      }
    }
    part(path + ".discovery.pluginRef", data.discovery(), Part.DISCOVERY, ImpliedTypes.NONE);
    part(
        path + ".peerDiscovery.pluginRef", data.peerDiscovery(), Part.DISCOVERY, ImpliedTypes.NONE);
    part(
        path + ".crossReplicaSyncerPluginRef",
        data.crossReplicaSyncer(),
        Part.SYNCER,
        ImpliedTypes.NONE);
  }

  private void part(String path, @Nullable String name, Part wanted, ImpliedTypes implied) {
    if (name == null || (!plugins.knows(name) && implied.has(name))) {
      return;
    }
    if (!plugins.knows(name)) {
      problems.add(
          path, "\"" + name + "\" is not the name of a plugin; there are " + plugins.names());
      return;
    }
    Made made = plugins.get(name);
    if (made != null && !plays(made.plugin(), wanted)) {
      problems.add(path, "\"" + name + "\" is of type " + made.type() + "; name " + wanted);
    }
  }

  private static boolean plays(Plugin plugin, Part wanted) {
    return switch (plugin) {
      case BuiltIn own -> own.part() == wanted;
      case PrefixSettings own -> false;
      case TokenizerSource own -> wanted == Part.PRODUCER;
      case KvEventsSource own -> wanted == Part.EXTRACTOR || wanted == Part.PRODUCER;
      case MetricsSource own -> wanted == Part.DATA_SOURCE;
      case EngineMetrics own -> wanted == Part.EXTRACTOR;
      case DataSource own -> wanted == Part.DATA_SOURCE;
      case OrderingPolicy own -> wanted == Part.ORDERING_POLICY;
      case FairnessPolicy own -> wanted == Part.FAIRNESS_POLICY;
      case UsageLimitPolicy own -> wanted == Part.USAGE_LIMIT_POLICY;
      case Setting foreign -> OPEN.contains(wanted);
      default -> false;
    };
  }
}
