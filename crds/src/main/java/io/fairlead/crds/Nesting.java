package io.fairlead.crds;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/**
 * How deep a tree may be whose shape no schema holds. An API server stores ten thousand levels, and
 * whoever compares, copies or writes such a tree runs out of stack.
 */
public final class Nesting {
  /** Some levels less than a config document may have, in which such trees are. */
  public static final int DEEPEST = 60;

  private Nesting() {}

  /** Whether it is deeper than it may be. */
  public static boolean isTooDeep(JsonNode tree) {
    return isDeeper(tree, DEEPEST);
  }

  /** The tree, without what is deeper than one level more than it may have. */
  public static @Nullable JsonNode cut(@Nullable JsonNode tree) {
    return tree == null || !isTooDeep(tree) ? tree : cut(tree, DEEPEST + 1);
  }

  private static boolean isDeeper(JsonNode tree, int levels) {
    if (!tree.isContainerNode()) {
      return false;
    }
    if (levels == 0) {
      return true;
    }
    for (JsonNode below : tree) {
      if (isDeeper(below, levels - 1)) {
        return true;
      }
    }
    return false;
  }

  private static JsonNode cut(JsonNode tree, int levels) {
    if (!tree.isContainerNode()) {
      return tree;
    }
    JsonNodeFactory nodes = JsonNodeFactory.instance;
    if (levels == 0) {
      return nodes.nullNode();
    }
    if (tree instanceof ObjectNode object) {
      ObjectNode kept = nodes.objectNode();
      object
          .properties()
          .forEach(field -> kept.set(field.getKey(), cut(field.getValue(), levels - 1)));
      return kept;
    }
    ArrayNode kept = nodes.arrayNode();
    tree.forEach(element -> kept.add(cut(element, levels - 1)));
    return kept;
  }
}
