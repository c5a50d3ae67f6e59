package io.fairlead.crds.document;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A structural OpenAPI schema as CRDs carry it, carried out without an API server: checks a tree,
 * reports every violation at its path, and fills in defaults.
 *
 * <p>Differs from the server in one point: an unknown field is an error and not dropped with a
 * warning.
 */
public final class Schema {
  private final JsonNode source;
  private final Map<String, Schema> properties = new LinkedHashMap<>();
  private final @Nullable Schema additional;
  private final @Nullable Schema items;
  private final @Nullable Pattern pattern;
  private final List<CelRule> rules = new ArrayList<>();
  private final Set<String> required = new HashSet<>();
  private final boolean open;

  /**
   * @throws IllegalArgumentException when {@code source} holds a CEL rule that has no twin in
   *     {@link CelRule}
   */
  public Schema(JsonNode source) {
    this.source = source;
    source
        .path("properties")
        .properties()
        .forEach(e -> properties.put(e.getKey(), new Schema(e.getValue())));
    this.additional =
        source.path("additionalProperties").isObject()
            ? new Schema(source.path("additionalProperties"))
            : null;
    this.items = source.path("items").isObject() ? new Schema(source.path("items")) : null;
    this.pattern = source.has("pattern") ? Pattern.compile(source.path("pattern").asText()) : null;
    source.path("x-kubernetes-validations").forEach(rule -> rules.add(CelRule.of(rule)));
    source.path("required").forEach(name -> required.add(name.asText()));
    this.open = source.path("x-kubernetes-preserve-unknown-fields").asBoolean();
  }

  /** Checks the whole of {@code tree}; defaults are filled into it. */
  public void check(SourceTree tree) {
    check(tree, FieldPath.ROOT, tree.root());
  }

  /**
   * Checks {@code value}, which is at {@code path} of {@code tree}; defaults are filled into it.
   */
  public void check(SourceTree tree, FieldPath path, JsonNode value) {
    if (!hasType(value)) {
      tree.error(path, "is " + describe(value) + ", expected " + expectedType());
      return;
    }
    int before = tree.errors().size();
    switch (value.getNodeType()) {
      case OBJECT -> object(tree, path, (ObjectNode) value);
      case ARRAY -> array(tree, path, value);
      case STRING -> string(tree, path, value.textValue());
      case NUMBER -> number(tree, path, value);
      default -> {}
    }
    // As on the server, rules look only at what is well formed below them.
    if (tree.errors().size() == before) {
      rules.stream()
          .filter(rule -> !rule.holds().test(value))
          .forEach(rule -> tree.error(path, rule.message()));
    }
  }

  private void object(SourceTree tree, FieldPath path, ObjectNode object) {
    object.properties().removeIf(e -> e.getValue().isNull() && properties.containsKey(e.getKey()));
    properties.forEach(
        (name, schema) -> {
          JsonNode preset = schema.source.get("default");
          if (preset != null && !object.has(name)) {
            object.set(name, preset.deepCopy());
          }
        });
    source
        .path("required")
        .forEach(
            name -> {
              if (!object.has(name.asText())) {
                tree.error(path.field(name.asText()), "is required, but missing");
              }
            });
    atLeastMost(tree, path, "Properties", object.size(), "entries");
    object
        .properties()
        .forEach(
            e -> {
              Schema schema = properties.getOrDefault(e.getKey(), additional);
              if (schema != null) {
                schema.check(tree, path.field(e.getKey()), e.getValue());
              } else if (!open) {
                tree.error(
                    path.field(e.getKey()),
                    "is an unknown field; known here: " + String.join(", ", properties.keySet()));
              }
            });
  }

  private void array(SourceTree tree, FieldPath path, JsonNode array) {
    atLeastMost(tree, path, "Items", array.size(), "elements");
    Set<List<JsonNode>> seen = new HashSet<>();
    for (int i = 0; i < array.size(); i++) {
      JsonNode element = array.get(i);
      if (items != null) {
        items.check(tree, path.element(i), element);
      }
      List<JsonNode> key = new ArrayList<>();
      source
          .path("x-kubernetes-list-map-keys")
          .forEach(name -> key.add(element.path(name.asText())));
      if (!key.isEmpty() && !seen.add(key)) {
        tree.error(
            path.element(i),
            "repeats an earlier element's "
                + source.path("x-kubernetes-list-map-keys")
                + "; remove one");
      }
    }
  }

  private void string(SourceTree tree, FieldPath path, String text) {
    atLeastMost(tree, path, "Length", text.codePointCount(0, text.length()), "characters");
    if (pattern != null && !pattern.matcher(text).matches()) {
      tree.error(path, "is " + FieldPath.quote(text) + ", which does not match " + pattern);
    }
    if (source.has("enum")) {
      List<String> allowed = new ArrayList<>();
      source.path("enum").forEach(value -> allowed.add(value.asText()));
      if (!allowed.contains(text)) {
        tree.error(
            path,
            "is " + FieldPath.quote(text) + ", expected one of " + String.join(", ", allowed));
      }
    }
  }

  private void number(SourceTree tree, FieldPath path, JsonNode number) {
    boolean small =
        source.path("format").asText().equals("int32")
            ? number.canConvertToInt()
            : number.canConvertToLong();
    double value = number.doubleValue();
    if (value < source.path("minimum").asDouble(Double.NEGATIVE_INFINITY)
        || value > source.path("maximum").asDouble(Double.POSITIVE_INFINITY)
        || (!small && !expectedType().equals("a number"))) {
      tree.error(path, "is " + number + ", expected " + expectedType() + range());
    }
  }

  private String range() {
    String from = source.has("minimum") ? " of at least " + source.path("minimum") : "";
    return from
        + (source.has("maximum")
            ? (from.isEmpty() ? " of" : " and") + " at most " + source.path("maximum")
            : "");
  }

  private void atLeastMost(SourceTree tree, FieldPath path, String what, int count, String unit) {
    int least = source.path("min" + what).asInt(0);
    int most = source.path("max" + what).asInt(Integer.MAX_VALUE);
    if (count < least || count > most) {
      tree.error(
          path,
          "has "
              + count
              + " "
              + unit
              + ", expected "
              + (count < least ? "at least " + least : "at most " + most));
    }
  }

  private boolean hasType(JsonNode value) {
    if (source.path("x-kubernetes-int-or-string").asBoolean()) {
      return value.isIntegralNumber() || value.isTextual();
    }
    return switch (source.path("type").asText()) {
      case "object" -> value.isObject();
      case "array" -> value.isArray();
      case "string" -> value.isTextual();
      case "integer" -> value.isIntegralNumber();
      case "number" -> value.isNumber();
      case "boolean" -> value.isBoolean();
      default -> !value.isMissingNode();
    };
  }

  private String expectedType() {
    if (source.path("x-kubernetes-int-or-string").asBoolean()) {
      return "a whole number or a string";
    }
    return switch (source.path("type").asText()) {
      case "object" -> "an object";
      case "array" -> "a list";
      case "string" -> "a string (in quotes if it looks like something else)";
      case "integer" -> "a whole number";
      case "number" -> "a number";
      case "boolean" -> "true or false";
      default -> "a value";
    };
  }

  static String describe(JsonNode value) {
    return switch (value.getNodeType()) {
      case OBJECT -> "an object";
      case ARRAY -> "a list";
      case STRING -> "the string " + FieldPath.quote(value.textValue());
      case NULL -> "null";
      case MISSING -> "missing";
      default -> value.toString();
    };
  }
}
