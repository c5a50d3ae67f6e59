package io.fairlead.crds.convert;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.document.FieldPath;
import io.fairlead.crds.document.SourceTree;
import java.util.HashSet;
import java.util.Set;

/** An object whose fields are taken one after the other; what nobody takes is lost, and told. */
final class Fields {
  private final SourceTree tree;
  private final FieldPath path;
  private final JsonNode object;
  private final Set<String> taken = new HashSet<>();

  Fields(SourceTree tree, FieldPath path, JsonNode object) {
    this.tree = tree;
    this.path = path;
    this.object = object;
  }

  /** The value; missing where there is none, or null. */
  JsonNode take(String field) {
    taken.add(field);
    JsonNode value = object.path(field);
    return value.isNull() ? MissingNode.getInstance() : value;
  }

  /**
   * The text; empty where there is none. YAML takes {@code yes} and {@code 1.10} for something else
   * unless they are in quotes, and what they were is not known any more.
   */
  String text(String field) {
    JsonNode value = take(field);
    if (!value.isMissingNode() && !value.isTextual()) {
      wrong(field, "is " + value + ", expected a text; put it into quotes if it is one");
    }
    return value.asText();
  }

  /** The object below a field; without fields where there is none. */
  Fields below(String field) {
    JsonNode value = take(field);
    return new Fields(
        tree,
        path.field(field),
        value.isMissingNode() ? JsonNodeFactory.instance.objectNode() : value);
  }

  /** The object that is an element of the list below a field. */
  Fields element(String field, int index) {
    return new Fields(tree, path.field(field).element(index), object.path(field).path(index));
  }

  /** Puts the value into another object under this name, where there is one. */
  void move(String field, ObjectNode to, String name) {
    JsonNode value = take(field);
    if (!value.isMissingNode()) {
      to.set(name, value);
    }
  }

  /** Tells that a field's value does not come along as it is. */
  void lost(String field, String why) {
    tree.warning(path.field(field), why);
  }

  /** Tells that the object can't be converted. */
  void wrong(String field, String why) {
    tree.error(path.field(field), why);
  }

  /** Tells of all that was not taken. */
  void rest(String why) {
    object
        .fieldNames()
        .forEachRemaining(
            field -> {
              if (!taken.contains(field) && !object.path(field).isNull()) {
                lost(field, why);
              }
            });
  }
}
