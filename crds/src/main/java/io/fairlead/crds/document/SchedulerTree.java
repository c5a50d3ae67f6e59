package io.fairlead.crds.document;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.config.DataLayerConfig;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.GoDuration;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.SchedulerConfig;
import java.time.Duration;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A {@code SchedulerConfig} as a tree. What is not set is not there, so that a release that knows
 * more sections gives the same bytes, and so the same hash, for what an older one wrote.
 */
final class SchedulerTree {

  private SchedulerTree() {}

  static ObjectNode of(SchedulerConfig config) {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    if (!config.featureGates().isEmpty()) {
      ArrayNode gates = node.putArray("featureGates");
      new TreeMap<>(config.featureGates())
          .forEach((name, on) -> gates.add(on ? name : name + "=false"));
    }
    if (!config.plugins().isEmpty()) {
      ArrayNode plugins = node.putArray("plugins");
      config.plugins().forEach(plugin -> plugins.add(of(plugin)));
    }
    if (!config.profiles().isEmpty()) {
      ArrayNode profiles = node.putArray("schedulingProfiles");
      config.profiles().forEach(profile -> profiles.add(of(profile)));
    }
    reference(node, "saturationDetector", config.saturationDetector());
    if (config.dataLayer() != null) {
      node.set("dataLayer", of(config.dataLayer()));
    }
    if (config.flowControl() != null) {
      node.set("flowControl", of(config.flowControl()));
    }
    if (!config.parsers().isEmpty()) {
      node.putObject("requestHandler").set("parsers", references(config.parsers()));
    }
    return node;
  }

  private static ObjectNode of(PluginConfig plugin) {
    ObjectNode node =
        JsonNodeFactory.instance.objectNode().put("name", plugin.name()).put("type", plugin.type());
    if (!plugin.parameters().isEmpty()) {
      node.set("parameters", Parameters.write(plugin.parameters()));
    }
    return node;
  }

  private static ObjectNode of(ProfileConfig profile) {
    ObjectNode node = JsonNodeFactory.instance.objectNode().put("name", profile.name());
    ArrayNode plugins = node.putArray("plugins");
    for (PluginReference reference : profile.plugins()) {
      plugins.addObject().put("pluginRef", reference.pluginRef()).put("weight", reference.weight());
    }
    return node;
  }

  private static ObjectNode of(DataLayerConfig data) {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    put(node, "injectDefaults", data.injectDefaults());
    if (!data.sources().isEmpty()) {
      ArrayNode sources = node.putArray("sources");
      for (DataLayerConfig.Source source : data.sources()) {
        ObjectNode entry = sources.addObject().put("pluginRef", source.pluginRef());
        if (!source.extractors().isEmpty()) {
          entry.set("extractors", references(source.extractors()));
        }
      }
    }
    reference(node, "discovery", data.discovery());
    reference(node, "peerDiscovery", data.peerDiscovery());
    put(node, "crossReplicaSyncerPluginRef", data.crossReplicaSyncer());
    put(node, "crossReplicaSyncInterval", data.crossReplicaSyncInterval());
    return node;
  }

  private static ObjectNode of(FlowControlConfig flow) {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    put(node, "maxBytes", flow.maxBytes());
    put(node, "maxRequests", flow.maxRequests());
    put(node, "defaultRequestTTL", flow.defaultRequestTtl());
    put(node, "noEndpointRequestTTL", flow.noEndpointRequestTtl());
    put(node, "enableEviction", flow.enableEviction());
    reference(node, "saturationDetector", flow.saturationDetector());
    put(node, "usageLimitPolicyPluginRef", flow.usageLimitPolicy());
    band(node, "defaultPriorityBand", flow.defaultPriorityBand());
    band(node, "defaultNegativePriorityBand", flow.defaultNegativePriorityBand());
    if (!flow.priorityBands().isEmpty()) {
      ArrayNode bands = node.putArray("priorityBands");
      flow.priorityBands().forEach(band -> bands.add(of(band)));
    }
    return node;
  }

  private static void band(ObjectNode node, String field, FlowControlConfig.@Nullable Band band) {
    if (band != null) {
      node.set(field, of(band));
    }
  }

  private static ObjectNode of(FlowControlConfig.Band band) {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    put(node, "priority", band.priority());
    put(node, "maxBytes", band.maxBytes());
    put(node, "maxRequests", band.maxRequests());
    put(node, "fairnessPolicyRef", band.fairnessPolicy());
    put(node, "orderingPolicyRef", band.orderingPolicy());
    return node;
  }

  private static ArrayNode references(List<String> names) {
    ArrayNode list = JsonNodeFactory.instance.arrayNode();
    names.forEach(name -> list.addObject().put("pluginRef", name));
    return list;
  }

  private static void reference(ObjectNode node, String field, @Nullable String name) {
    if (name != null) {
      node.putObject(field).put("pluginRef", name);
    }
  }

  private static void put(ObjectNode node, String field, @Nullable Object value) {
    if (value != null) {
      JsonNode written =
          value instanceof Duration duration
              ? JsonNodeFactory.instance.textNode(GoDuration.format(duration))
              : Parameters.node(value);
      node.set(field, written);
    }
  }
}
