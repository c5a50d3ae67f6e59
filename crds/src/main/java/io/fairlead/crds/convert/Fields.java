package io.fairlead.crds.convert;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.document.FieldPath;
import io.fairlead.crds.document.SourceTree;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** An object whose fields are taken one after the other; what nobody takes is lost, and told. */
final class Fields {
  private static final int MOST_LABELS = 64;
  private static final Pattern LABEL =
      Pattern.compile("(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?");

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

  /**
   * The whole number, where it is one that the API server takes for the field that it goes to; else
   * as it came, and told to be wrong.
   */
  JsonNode number(String field, int least, int most) {
    JsonNode value = take(field);
    boolean fits =
        value.isIntegralNumber()
            && value.canConvertToInt()
            && value.intValue() >= least
            && value.intValue() <= most;
    if (!value.isMissingNode() && !fits) {
      wrong(field, "is %s, expected a whole number from %d to %d".formatted(value, least, most));
    }
    return value;
  }

  /** The same, put into another object under this name, where there is one. */
  void moveNumber(String field, ObjectNode to, String name, int least, int most) {
    JsonNode value = number(field, least, most);
    if (!value.isMissingNode()) {
      to.set(name, value);
    }
  }

  /** Labels by which pods are selected; what the API server would not take is told to be wrong. */
  JsonNode labels(String field) {
    JsonNode labels = take(field);
    if (!labels.isMissingNode() && !labels.isObject()) {
      wrong(field, "is %s, expected labels and their values".formatted(labels));
      return labels;
    }
    if (labels.size() > MOST_LABELS) {
      wrong(
          field,
          "has %d labels, and a pool of v1 %d at most".formatted(labels.size(), MOST_LABELS));
    }
    Fields each = below(field);
    for (String name : each.names()) {
      if (labels.path(name).isNull()) {
        each.wrong(name, "is null, expected a text; \"\" is the empty one");
      } else if (!LABEL.matcher(each.text(name)).matches()) {
        each.wrong(
            name,
            "is no value of a label, which has up to 63 of A-Z, a-z, 0-9, -, _ and . and begins and ends with a letter or digit");
      }
    }
    return labels;
  }

  private List<String> names() {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    return names;
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
