package io.fairlead.crds.document;

import com.fasterxml.jackson.databind.JsonNode;
import io.fairlead.crds.config.DataLayerConfig;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.ImpliedTypes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads the sections of an {@code EndpointPickerConfig} beside plugins and profiles, of which the
 * schema has been checked.
 */
final class SectionReader {

  private static final List<String> GATES =
      List.of("dataLayer", "enableLegacyMetrics", "flowControl", "haPopulateNonLeaderDatastore");

  private final SourceTree tree;
  private final References references;

  SectionReader(SourceTree tree, References references) {
    this.tree = tree;
    this.references = references;
  }

  Map<String, Boolean> featureGates(FieldPath path, JsonNode list) {
    Map<String, Boolean> gates = new TreeMap<>();
    for (int i = 0; i < list.size(); i++) {
      String text = list.get(i).asText();
      int sign = text.indexOf('=');
      String name = sign < 0 ? text : text.substring(0, sign);
      String value = sign < 0 ? "true" : text.substring(sign + 1);
      if (!GATES.contains(name)) {
        tree.error(
            path.element(i),
            "is "
                + FieldPath.quote(text)
                + ", no feature gate; known are "
                + String.join(", ", GATES));
      } else if (!value.equals("true") && !value.equals("false")) {
        tree.error(
            path.element(i),
            "is " + FieldPath.quote(text) + "; write " + name + "=true or " + name + "=false");
      } else if (gates.put(name, Boolean.valueOf(value)) != null) {
        tree.error(path.element(i), "sets " + name + " again; keep one");
      }
    }
    return gates;
  }

  @Nullable String saturationDetector(FieldPath path, JsonNode node) {
    return references.check(
        path.field("pluginRef"), node.path("pluginRef"), ImpliedTypes.SATURATION_DETECTOR);
  }

  @Nullable FlowControlConfig flowControl(FieldPath path, JsonNode node) {
    if (!node.isObject()) {
      return null;
    }
    JsonNode eviction = node.path("enableEviction");
    return new FlowControlConfig(
        quantity(path, node, "maxBytes"),
        quantity(path, node, "maxRequests"),
        duration(path, node, "defaultRequestTTL", Duration.ZERO),
        duration(path, node, "noEndpointRequestTTL", Duration.ZERO),
        eviction.isBoolean() ? eviction.booleanValue() : null,
        saturationDetector(path.field("saturationDetector"), node.path("saturationDetector")),
        references.check(
            path.field("usageLimitPolicyPluginRef"),
            node.path("usageLimitPolicyPluginRef"),
            ImpliedTypes.USAGE_LIMIT_POLICY),
        band(path.field("defaultPriorityBand"), node.path("defaultPriorityBand")),
        band(path.field("defaultNegativePriorityBand"), node.path("defaultNegativePriorityBand")),
        bands(path.field("priorityBands"), node.path("priorityBands")));
  }

  private List<FlowControlConfig.Band> bands(FieldPath path, JsonNode list) {
    List<FlowControlConfig.Band> bands = new ArrayList<>();
    Set<Integer> priorities = new HashSet<>();
    for (int i = 0; i < list.size(); i++) {
      FlowControlConfig.Band band = band(path.element(i), list.get(i));
      if (band != null) {
        bands.add(band);
        if (band.priority() != null && !priorities.add(band.priority())) {
          tree.error(
              path.element(i).field("priority"),
              "is " + band.priority() + ", the priority of an earlier band; keep one of them");
        }
      }
    }
    return bands;
  }

  private FlowControlConfig.@Nullable Band band(FieldPath path, JsonNode node) {
    if (!node.isObject()) {
      return null;
    }
    return new FlowControlConfig.Band(
        node.has("priority") ? (Integer) node.path("priority").intValue() : null,
        quantity(path, node, "maxBytes"),
        quantity(path, node, "maxRequests"),
        references.check(
            path.field("fairnessPolicyRef"),
            node.path("fairnessPolicyRef"),
            ImpliedTypes.FAIRNESS_POLICY),
        references.check(
            path.field("orderingPolicyRef"),
            node.path("orderingPolicyRef"),
            ImpliedTypes.ORDERING_POLICY));
  }

  @Nullable DataLayerConfig dataLayer(FieldPath path, JsonNode node) {
    if (!node.isObject()) {
      return null;
    }
    List<DataLayerConfig.Source> sources = new ArrayList<>();
    for (JsonNode source : node.path("sources")) {
      FieldPath at = path.field("sources").element(sources.size());
      String name =
          references.check(
              at.field("pluginRef"), source.path("pluginRef"), ImpliedTypes.DATA_SOURCE);
      List<String> extractors =
          references.all(at.field("extractors"), source.path("extractors"), ImpliedTypes.EXTRACTOR);
      sources.add(new DataLayerConfig.Source(name == null ? "" : name, extractors));
    }
    JsonNode inject = node.path("injectDefaults");
    return new DataLayerConfig(
        inject.isBoolean() ? inject.booleanValue() : null,
        sources,
        references.check(
            path.field("discovery").field("pluginRef"),
            node.at("/discovery/pluginRef"),
            ImpliedTypes.NONE),
        references.check(
            path.field("peerDiscovery").field("pluginRef"),
            node.at("/peerDiscovery/pluginRef"),
            ImpliedTypes.NONE),
        references.check(
            path.field("crossReplicaSyncerPluginRef"),
            node.path("crossReplicaSyncerPluginRef"),
            ImpliedTypes.NONE),
        duration(path, node, "crossReplicaSyncInterval", Duration.ofNanos(1)));
  }

  List<String> parsers(FieldPath path, JsonNode node) {
    JsonNode single = node.path("parser");
    JsonNode several = node.at("/requestHandler/parsers");
    if (!single.isMissingNode() && !several.isMissingNode()) {
      tree.error(
          path.field("parser"),
          "is set beside requestHandler.parsers; keep requestHandler.parsers alone");
      return List.of();
    }
    if (single.isMissingNode()) {
      return references.all(
          path.field("requestHandler").field("parsers"), several, ImpliedTypes.PARSER);
    }
    String name =
        references.check(
            path.field("parser").field("pluginRef"), single.path("pluginRef"), ImpliedTypes.PARSER);
    return name == null ? List.of() : List.of(name);
  }

  private @Nullable Long quantity(FieldPath path, JsonNode node, String field) {
    if (!node.has(field)) {
      return null;
    }
    Long value = Quantity.parse(node.path(field));
    if (value == null) {
      JsonNode wrong = node.path(field);
      tree.error(
          path.field(field),
          "is "
              + Schema.describe(wrong)
              + ", expected a whole number of at least 0 as Kubernetes writes quantities, such as"
              + " 5000, 500M or 1Gi");
    }
    return value;
  }

  private @Nullable Duration duration(
      FieldPath path, JsonNode node, String field, Duration shortest) {
    return DurationField.read(tree, path, node, field, shortest, DurationField.UNLIMITED);
  }
}
