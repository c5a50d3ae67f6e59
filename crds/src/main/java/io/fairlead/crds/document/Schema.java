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
  private final List<String> required = new ArrayList<>();
  private final Map<String, JsonNode> presets = new LinkedHashMap<>();
  private final List<String> allowed = new ArrayList<>();
  private final List<String> listKeys = new ArrayList<>();
  private final String type;
  private final int least;
  private final int most;
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
        .forEach(
            e -> {
              properties.put(e.getKey(), new Schema(e.getValue()));
              if (e.getValue().has("default")) {
                presets.put(e.getKey(), e.getValue().get("default"));
              }
            });
    source.path("enum").forEach(value -> allowed.add(value.asText()));
    source.path("x-kubernetes-list-map-keys").forEach(key -> listKeys.add(key.asText()));
    this.type =
        source.path("x-kubernetes-int-or-string").asBoolean()
            ? "int-or-string"
            : source.path("type").asText();
    String counted =
        switch (type) {
          case "object" -> "Properties";
          case "array" -> "Items";
          default -> "Length";
        };
    this.least = source.path("min" + counted).asInt(0);
    this.most = source.path("max" + counted).asInt(Integer.MAX_VALUE);
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
    int before = tree.errorCount();
    switch (value.getNodeType()) {
      case OBJECT -> object(tree, path, (ObjectNode) value);
      case ARRAY -> array(tree, path, value);
      case STRING -> string(tree, path, value.textValue());
      case NUMBER -> number(tree, path, value);
      default -> {}
    }
    // As on the server, rules look only at what is well formed below them.
    if (tree.errorCount() == before) {
      for (CelRule rule : rules) {
        if (!rule.holds().test(value)) {
          tree.error(
              path, value.isNumber() ? "is " + value + ": " + rule.message() : rule.message());
        }
      }
    }
  }

  private void object(SourceTree tree, FieldPath path, ObjectNode object) {
    object.properties().removeIf(e -> e.getValue().isNull() && properties.containsKey(e.getKey()));
    presets.forEach(
        (name, preset) -> {
          if (!object.has(name)) {
            object.set(name, preset.deepCopy());
          }
        });
    for (String name : required) {
      if (!object.has(name)) {
        tree.error(path.field(name), "is required, but missing");
      }
    }
    atLeastMost(tree, path, object.size(), "entries");
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
                    properties.isEmpty()
                        ? "is an unknown field; none is known here"
                        : "is an unknown field; known here: "
                            + String.join(", ", properties.keySet()));
              }
            });
  }

  private void array(SourceTree tree, FieldPath path, JsonNode array) {
    atLeastMost(tree, path, array.size(), "elements");
    Set<List<JsonNode>> seen = new HashSet<>();
    for (int i = 0; i < array.size(); i++) {
      JsonNode element = array.get(i);
      if (items != null) {
        items.check(tree, path.element(i), element);
      }
      if (!listKeys.isEmpty() && !seen.add(listKeys.stream().map(element::path).toList())) {
        tree.error(
            path.element(i),
            "repeats an earlier element's "
                + source.path("x-kubernetes-list-map-keys")
                + "; remove one");
      }
    }
  }

  private void string(SourceTree tree, FieldPath path, String text) {
    atLeastMost(tree, path, text.codePointCount(0, text.length()), "characters");
    if (pattern != null && !pattern.matcher(text).matches()) {
      tree.error(path, "is " + FieldPath.quote(text) + ", which does not match " + pattern);
    }
    if (!allowed.isEmpty() && !allowed.contains(text)) {
      tree.error(
          path, "is " + FieldPath.quote(text) + ", expected one of " + String.join(", ", allowed));
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

  private void atLeastMost(SourceTree tree, FieldPath path, int count, String unit) {
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
    return switch (type) {
      case "int-or-string" -> value.isIntegralNumber() || value.isTextual();
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
