package io.fairlead.crds.document;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.fairlead.crds.config.Spelling;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;

/**
 * The plugin types that every picker has, as data: what can be said of a document's plugins without
 * the scheduler that runs them. A test of the scheduler holds the data to its registry.
 *
 * <p>Says less than the scheduler: which settings exclude or need each other, and which plugin may
 * stand where, only the scheduler knows.
 */
public final class PluginTypes {
  private static final PluginTypes SHIPPED = new PluginTypes(Schemas.tree("plugin-types"));

  private final Map<String, Schema> types = new TreeMap<>();
  private final Map<String, String> instead = new TreeMap<>();

  private PluginTypes(JsonNode data) {
    data.path("types").properties().forEach(e -> types.put(e.getKey(), new Schema(e.getValue())));
    data.path("instead").properties().forEach(e -> instead.put(e.getKey(), e.getValue().asText()));
  }

  /** Those of this release. */
  public static PluginTypes shipped() {
    return SHIPPED;
  }

  /**
   * Checks type and parameters of every entry of {@code plugins}, a list at {@code path} of {@code
   * tree} that has been held to the schema of the document: of what the tree has errors already, no
   * more is said. Errors are added to the tree.
   *
   * @param declared types that the picker's image has beyond the shipped ones: nothing is known of
   *     their parameters
   */
  public void check(
      SourceTree tree, FieldPath path, JsonNode plugins, Collection<String> declared) {
    for (int i = 0; plugins.isArray() && i < plugins.size(); i++) {
      FieldPath typeAt = path.element(i).field("type");
      FieldPath parametersAt = path.element(i).field("parameters");
      String type = plugins.get(i).path("type").asText();
      Schema parameters = types.get(type);
      if (parameters == null) {
        if (!declared.contains(type) && !tree.isWrong(typeAt)) {
          tree.error(typeAt, unknown(type));
        }
      } else if (!tree.isWrong(parametersAt)) {
        JsonNode given = plugins.get(i).path("parameters");
        parameters.check(
            tree,
            parametersAt,
            given.isObject() ? given.deepCopy() : JsonNodeFactory.instance.objectNode());
      }
    }
  }

  private String unknown(String type) {
    String other = instead.get(type);
    if (other != null) {
      return "is " + FieldPath.quote(type) + ", which is not supported; use " + other;
    }
    String near = Spelling.near(type, types.keySet());
    return "is "
        + FieldPath.quote(type)
        + ", which is no known plugin type; "
        + (near.isEmpty() ? "" : "did you mean " + near + "? ")
        + "A type of the image's own must be listed in spec.pluginTypes";
  }
}
