package io.fairlead.crds.document;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A plugin's parameters: trees to plain values (String, Boolean, Long, Double, List, Map) and back
 * with sorted keys.
 */
final class Parameters {
  private Parameters() {}

  static Map<String, Object> read(SourceTree tree, FieldPath path, JsonNode object) {
    Map<String, Object> values = new TreeMap<>();
    object
        .properties()
        .forEach(e -> values.put(e.getKey(), value(tree, path.field(e.getKey()), e.getValue())));
    return Collections.unmodifiableMap(values);
  }

  private static Object value(SourceTree tree, FieldPath path, JsonNode node) {
    return switch (node.getNodeType()) {
      case STRING -> node.textValue();
      case BOOLEAN -> node.booleanValue();
      case OBJECT -> read(tree, path, node);
      case ARRAY -> {
        List<Object> list = new ArrayList<>();
        for (int i = 0; i < node.size(); i++) {
          list.add(value(tree, path.element(i), node.get(i)));
        }
        yield Collections.unmodifiableList(list);
      }
      case NUMBER -> {
        if (node.isIntegralNumber() && !node.canConvertToLong()) {
          tree.error(path, "is " + node + ", expected a number of at most 64 bits");
        }
        yield node.isIntegralNumber() ? (Object) node.longValue() : (Object) node.doubleValue();
      }
      default -> {
        tree.error(path, "is null, which has no meaning here; give a value or remove the field");
        yield "";
      }
    };
  }

  static ObjectNode write(Map<?, ?> values) {
    ObjectNode object = JsonNodeFactory.instance.objectNode();
    Map<String, Object> sorted = new TreeMap<>();
    values.forEach((key, value) -> sorted.put((String) key, value));
    sorted.forEach((key, value) -> object.set(key, node(value)));
    return object;
  }

  static JsonNode node(Object value) {
    JsonNodeFactory nodes = JsonNodeFactory.instance;
    return switch (value) {
      case String text -> nodes.textNode(text);
      case Boolean truth -> nodes.booleanNode(truth);
      case Long number -> nodes.numberNode(number);
      case Integer number -> nodes.numberNode(number.longValue());
      case Double number -> nodes.numberNode(number);
      case Map<?, ?> map -> write(map);
      case List<?> list -> {
        ArrayNode array = nodes.arrayNode();
        list.forEach(element -> array.add(node(element)));
        yield array;
      }
      default ->
          throw new IllegalArgumentException("no parameter can be a " + value.getClass().getName());
    };
  }
}
