package io.fairlead.crds.document;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Upstream's {@code EndpointPickerConfig}, read strictly: an unknown field, a wrong type, a
 * duplicate name or a reference to a plugin that is not declared is an error. Whether a plugin type
 * exists and takes its parameters is the scheduler's to say.
 */
public final class SchedulerDocument {
  private static final String OLD_GROUP = "inference.networking.x-k8s.io/v1alpha1";
  private static final List<String> NOT_CARRIED_OUT =
      List.of("featureGates", "dataLayer", "flowControl", "parser", "requestHandler");
  private static final Schema SCHEMA = Schemas.document("endpoint-picker-config");

  private SchedulerDocument() {}

  /**
   * Reads a whole document with its apiVersion and kind.
   *
   * @param file what errors call the text
   * @return the config, with a warning for every section that this release does not carry out
   */
  public static Parsed<SchedulerConfig> read(String file, String text) throws DocumentException {
    SourceTree tree = SourceTree.parseOne(file, text);
    tree.throwErrors();
    for (String field : List.of("apiVersion", "kind")) {
      if (tree.root().isObject() && !tree.root().has(field)) {
        tree.error(
            FieldPath.ROOT.field(field),
            "is required, but missing; expected "
                + (field.equals("kind") ? "EndpointPickerConfig" : OLD_GROUP));
      }
    }
    SchedulerConfig config = read(tree, FieldPath.ROOT, tree.root());
    tree.throwErrors();
    return new Parsed<>(config, tree.warnings());
  }

  /**
   * Reads the object {@code node} at {@code path} of {@code tree}; apiVersion and kind may be
   * absent. Errors and warnings are added to the tree; with any error the result means nothing.
   * Defaults are filled into {@code node}.
   */
  public static SchedulerConfig read(SourceTree tree, FieldPath path, JsonNode node) {
    int before = tree.errors().size();
    SCHEMA.check(tree, path, node);
    if (tree.errors().size() > before) {
      return SchedulerConfig.DEFAULT;
    }
    NOT_CARRIED_OUT.stream()
        .filter(node::has)
        .forEach(
            field ->
                tree.warning(
                    path.field(field),
                    "is not carried out by this release; it is checked and ignored"));
    List<PluginConfig> plugins = plugins(tree, path.field("plugins"), node.path("plugins"));
    Set<String> names = new HashSet<>();
    plugins.forEach(plugin -> names.add(plugin.name()));
    List<ProfileConfig> profiles =
        profiles(tree, path.field("schedulingProfiles"), node.path("schedulingProfiles"));
    references(tree, path, node, names);
    JsonNode detector = node.path("saturationDetector").path("pluginRef");
    return new SchedulerConfig(plugins, profiles, detector.textValue());
  }

  private static List<PluginConfig> plugins(SourceTree tree, FieldPath path, JsonNode list) {
    List<PluginConfig> plugins = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (int i = 0; i < list.size(); i++) {
      JsonNode plugin = list.get(i);
      FieldPath here = path.element(i);
      String type = plugin.path("type").textValue();
      String name = plugin.path("name").asText(type);
      if (!names.add(name)) {
        tree.error(
            here.field(plugin.has("name") ? "name" : "type"),
            "is "
                + FieldPath.quote(name)
                + ", the name of an earlier plugin; give each a name of its own");
      }
      plugins.add(
          new PluginConfig(
              name,
              type,
              Parameters.read(tree, here.field("parameters"), plugin.path("parameters"))));
    }
    return plugins;
  }

  private static List<ProfileConfig> profiles(SourceTree tree, FieldPath path, JsonNode list) {
    List<ProfileConfig> profiles = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (int i = 0; i < list.size(); i++) {
      JsonNode profile = list.get(i);
      String name = profile.path("name").textValue();
      if (!names.add(name)) {
        tree.error(
            path.element(i).field("name"),
            "is "
                + FieldPath.quote(name)
                + ", the name of an earlier profile; give each a name of its own");
      }
      List<PluginReference> references = new ArrayList<>();
      for (JsonNode reference : profile.path("plugins")) {
        // Adding zero turns -0.0, which passes for 0, into 0.0.
        references.add(
            new PluginReference(
                reference.path("pluginRef").textValue(),
                reference.path("weight").asDouble(1) + 0.0));
      }
      profiles.add(new ProfileConfig(name, references));
    }
    return profiles;
  }

  private static void references(
      SourceTree tree, FieldPath path, JsonNode node, Set<String> names) {
    if (node.isArray()) {
      for (int i = 0; i < node.size(); i++) {
        references(tree, path.element(i), node.get(i), names);
      }
      return;
    }
    node.properties()
        .forEach(
            e -> {
              FieldPath here = path.field(e.getKey());
              if (e.getKey().equals("pluginRef") || e.getKey().endsWith("PluginRef")) {
                String name = e.getValue().asText();
                if (!names.contains(name)) {
                  tree.error(
                      here,
                      "is "
                          + FieldPath.quote(name)
                          + ", but no plugin has that name; declare it under plugins"
                          + (names.isEmpty() ? "" : " or use one of " + quoted(names)));
                }
              } else if (!e.getKey().equals("parameters")) {
                references(tree, here, e.getValue(), names);
              }
            });
  }

  private static String quoted(Set<String> names) {
    return String.join(", ", names.stream().sorted().limit(20).map(FieldPath::quote).toList());
  }

  /** Writes {@code config} as a whole document. */
  public static String write(SchedulerConfig config) {
    ObjectNode document = JsonNodeFactory.instance.objectNode();
    document.put("apiVersion", OLD_GROUP).put("kind", "EndpointPickerConfig");
    document.setAll(tree(config));
    return TreeWriter.yaml(document);
  }

  static ObjectNode tree(SchedulerConfig config) {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    ArrayNode plugins = JsonNodeFactory.instance.arrayNode();
    for (PluginConfig plugin : config.plugins()) {
      ObjectNode entry = plugins.addObject().put("name", plugin.name()).put("type", plugin.type());
      if (!plugin.parameters().isEmpty()) {
        entry.set("parameters", Parameters.write(plugin.parameters()));
      }
    }
    ArrayNode profiles = JsonNodeFactory.instance.arrayNode();
    for (ProfileConfig profile : config.profiles()) {
      ArrayNode references = profiles.addObject().put("name", profile.name()).putArray("plugins");
      for (PluginReference reference : profile.plugins()) {
        references
            .addObject()
            .put("pluginRef", reference.pluginRef())
            .put("weight", reference.weight());
      }
    }
    if (!plugins.isEmpty()) {
      node.set("plugins", plugins);
    }
    if (!profiles.isEmpty()) {
      node.set("schedulingProfiles", profiles);
    }
    if (config.saturationDetector() != null) {
      node.putObject("saturationDetector").put("pluginRef", config.saturationDetector());
    }
    return node;
  }
}
