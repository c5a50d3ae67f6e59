package io.fairlead.crds.document;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.Nesting;
import io.fairlead.crds.config.ImpliedTypes;
import io.fairlead.crds.config.NotCarriedOut;
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
  private static final Schema SCHEMA = Schemas.document("endpoint-picker-config");

  private SchedulerDocument() {}

  /**
   * Reads a whole document with its apiVersion and kind.
   *
   * @param file what errors call the text
   * @return the config, with a warning for every section that this release does not carry out
   */
  public static Parsed<SchedulerConfig> read(String file, String text) throws DocumentException {
    return read(SourceTree.parseOne(file, text));
  }

  /** The same of one that is parsed already. */
  public static Parsed<SchedulerConfig> read(SourceTree tree) throws DocumentException {
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
    if (Nesting.isTooDeep(node)) {
      tree.error(
          path, "is nested deeper than %d levels; make it flatter".formatted(Nesting.DEEPEST));
      return SchedulerConfig.DEFAULT;
    }
    int before = tree.errors().size();
    SCHEMA.check(tree, path, node);
    Sections sections =
        new Sections(path, node, tree.errors().subList(before, tree.errors().size()));
    List<PluginConfig> plugins = plugins(tree, path.field("plugins"), sections.get("plugins"));
    Set<String> names = new HashSet<>();
    plugins.forEach(plugin -> names.add(plugin.name()));
    References references = new References(tree, sections.sound("plugins") ? names : null);
    SectionReader reader = new SectionReader(tree, references);
    SchedulerConfig config =
        new SchedulerConfig(
            plugins,
            profiles(
                tree,
                references,
                path.field("schedulingProfiles"),
                sections.get("schedulingProfiles")),
            reader.saturationDetector(
                path.field("saturationDetector"), sections.get("saturationDetector")),
            reader.featureGates(path.field("featureGates"), sections.get("featureGates")),
            reader.flowControl(path.field("flowControl"), sections.get("flowControl")),
            reader.dataLayer(path.field("dataLayer"), sections.get("dataLayer")),
            sections.sound("parser") && sections.sound("requestHandler")
                ? reader.parsers(path, node)
                : List.of());
    oneDetector(tree, path, config);
    if (tree.errors().size() > before) {
      return SchedulerConfig.DEFAULT;
    }
    for (NotCarriedOut what : NotCarriedOut.of(config)) {
      tree.warning(path.below(what.path()), what.message());
    }
    return config;
  }

  /** The sections that keep to the schema: what is wrong in one must not hide what is in others. */
  private record Sections(FieldPath path, JsonNode node, List<FieldError> errors) {

    boolean sound(String section) {
      String at = path.field(section).text();
      return node.isObject() && errors.stream().noneMatch(error -> error.path().startsWith(at));
    }

    JsonNode get(String section) {
      return sound(section) ? node.path(section) : MissingNode.getInstance();
    }
  }

  private static void oneDetector(SourceTree tree, FieldPath path, SchedulerConfig config) {
    String outer = config.saturationDetector();
    String inner = config.flowControl() == null ? null : config.flowControl().saturationDetector();
    if (outer != null && inner != null && !outer.equals(inner)) {
      tree.error(
          path.below("flowControl.saturationDetector.pluginRef"),
          "is "
              + FieldPath.quote(inner)
              + ", but saturationDetector is "
              + FieldPath.quote(outer)
              + "; set it in one place");
    }
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

  private static List<ProfileConfig> profiles(
      SourceTree tree, References known, FieldPath path, JsonNode list) {
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
      FieldPath at = path.element(i).field("plugins");
      for (JsonNode reference : profile.path("plugins")) {
        String ref =
            known.check(
                at.element(references.size()).field("pluginRef"),
                reference.path("pluginRef"),
                ImpliedTypes.NONE);
        // Adding zero turns -0.0, which passes for 0, into 0.0.
        references.add(
            new PluginReference(
                ref == null ? "" : ref, reference.path("weight").asDouble(1) + 0.0));
      }
      profiles.add(new ProfileConfig(name, references));
    }
    return profiles;
  }

  /** Writes {@code config} as a whole document. */
  public static String write(SchedulerConfig config) {
    ObjectNode document = JsonNodeFactory.instance.objectNode();
    document.put("apiVersion", OLD_GROUP).put("kind", "EndpointPickerConfig");
    document.setAll(tree(config));
    return TreeWriter.yaml(document);
  }

  static ObjectNode tree(SchedulerConfig config) {
    return SchedulerTree.of(config);
  }
}
