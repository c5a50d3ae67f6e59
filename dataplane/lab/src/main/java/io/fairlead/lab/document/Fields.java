package io.fairlead.lab.document;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.fairlead.crds.document.FieldPath;
import io.fairlead.crds.document.SourceTree;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The fields of one object of a document. What is wrong with one is added to the document's errors,
 * and reading goes on with a value that does no harm: all problems are told at once, by {@link
 * #refuseIfWrong}.
 *
 * <p>Used by one thread.
 */
public final class Fields {

  private static final Pattern DURATION = Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{1,9})?)(ms|s|m)");

  private final SourceTree tree;
  private final FieldPath path;
  private final JsonNode node;
  private boolean wrong;

  private Fields(SourceTree tree, FieldPath path, JsonNode node) {
    this.tree = tree;
    this.path = path;
    // A text that can't be read has no root, and that is told already.
    boolean told = node.isMissingNode() && !tree.errors().isEmpty();
    this.wrong = !node.isObject();
    if (wrong && !told) {
      tree.error(path, "is " + shown(node) + "; write fields, as in NAME: VALUE");
    }
    this.node = node.isObject() ? node : JsonNodeFactory.instance.objectNode();
  }

  /**
   * The fields of a text's only document.
   *
   * @param origin where the text is from, for messages
   */
  public static Fields of(String origin, String text) {
    return of(SourceTree.parseOne(origin, text));
  }

  /** The fields of a document. */
  public static Fields of(SourceTree tree) {
    return new Fields(tree, FieldPath.ROOT, tree.root());
  }

  /**
   * Ends reading.
   *
   * @throws IllegalArgumentException if anything of the document is wrong; a line per problem
   */
  public void refuseIfWrong() {
    if (!tree.errors().isEmpty()) {
      throw new IllegalArgumentException(
          tree.errors().stream().map(Object::toString).collect(Collectors.joining("\n")));
    }
  }

  /** Whether something of this object has been wrong so far. */
  public boolean wrong() {
    return wrong;
  }

  /** Tells that a field is wrong. */
  public void wrong(String field, String message) {
    wrong = true;
    tree.error(path.field(field), message);
  }

  /** Whether the field is there. */
  public boolean has(String field) {
    return node.has(field);
  }

  /** Refuses fields other than these. */
  public void only(String what, List<String> names) {
    for (var field : node.properties()) {
      if (!names.contains(field.getKey())) {
        wrong(
            field.getKey(),
            "is no field of %s; it has %s".formatted(what, String.join(", ", names)));
      }
    }
  }

  /** A field as a message shows it. */
  public String shown(String field) {
    return shown(node.path(field));
  }

  private static String shown(JsonNode value) {
    if (value.isMissingNode()) {
      return "missing";
    }
    return FieldPath.quote(value.isTextual() ? value.textValue() : value.toString());
  }

  /** A text that may be missing, or a number as one. */
  public String word(String field) {
    JsonNode value = node.path(field);
    return value.isNumber() && isWhole(value) ? Long.toString(value.longValue()) : value.asText("");
  }

  /** A text; empty where there is none. */
  public Optional<String> text(String field) {
    JsonNode value = node.path(field);
    if (value.isMissingNode()) {
      return Optional.empty();
    }
    if (!value.isTextual() || value.textValue().isBlank()) {
      wrong(field, "is " + shown(value) + "; set a text, or leave it out");
      return Optional.empty();
    }
    return Optional.of(value.textValue());
  }

  /**
   * A whole number.
   *
   * @param usual where it is missing; null if it must not be
   */
  public int whole(String field, @Nullable Integer usual, int least) {
    JsonNode value = node.path(field);
    if (value.isMissingNode() && usual != null) {
      return usual;
    }
    if (value.isNumber() && isWhole(value) && value.intValue() >= least) {
      return value.intValue();
    }
    wrong(field, "is " + shown(value) + "; set a whole number from " + least + " on");
    return least;
  }

  private static boolean isWhole(JsonNode value) {
    double number = value.doubleValue();
    return number == Math.rint(number) && Math.abs(number) <= Integer.MAX_VALUE;
  }

  /**
   * A number above 0.
   *
   * @param usual where it is missing; null if it must not be
   */
  public double positive(String field, @Nullable Double usual) {
    double value = number(field, usual);
    if (!(value > 0)) {
      wrong(field, "is " + shown(field) + "; set a number above 0");
      return 1;
    }
    return value;
  }

  /**
   * A number.
   *
   * @param usual where it is missing; null if it must not be
   */
  public double number(String field, @Nullable Double usual) {
    JsonNode value = node.path(field);
    if (value.isMissingNode() && usual != null) {
      return usual;
    }
    if (!value.isNumber()) {
      wrong(field, "is " + shown(value) + "; set a number, as in " + field + ": 0.5");
      return 1;
    }
    return value.doubleValue();
  }

  /**
   * A time, in seconds.
   *
   * @param usual where it is missing; null if it must not be
   */
  public double seconds(String field, @Nullable Double usual) {
    JsonNode value = node.path(field);
    if (value.isMissingNode() && usual != null) {
      return usual;
    }
    Matcher parts = DURATION.matcher(value.isTextual() ? value.textValue() : "");
    if (parts.matches()) {
      return Double.parseDouble(parts.group(1)) * unit(parts.group(2));
    }
    wrong(field, "is " + shown(value) + "; set a time, as in 10s, 500ms or 2m");
    return 1;
  }

  private static double unit(String letters) {
    return switch (letters) {
      case "ms" -> 1e-3;
      case "m" -> 60;
      default -> 1;
    };
  }

  /** Whether the field is an object. */
  public boolean isObject(String field) {
    return node.path(field).isObject();
  }

  /** The fields of an object, none where it is none. */
  public Fields object(String field) {
    return new Fields(tree, path.field(field), node.path(field));
  }

  /**
   * The objects of a list, one or more.
   *
   * @param example of an object, for the message
   */
  public List<Fields> list(String field, String example) {
    JsonNode list = node.path(field);
    if (!list.isArray() || list.isEmpty()) {
      wrong(
          field,
          (list.isMissingNode() ? "is missing" : "is no list of something")
              + "; set one or more, as in ["
              + example
              + "]");
      return List.of();
    }
    List<Fields> all = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      all.add(new Fields(tree, path.field(field).element(i), list.get(i)));
    }
    return all;
  }

  /**
   * What is made of fields that are right by themselves. What is refused is told at the field that
   * the message begins with, {@code FIELD: …}.
   *
   * @return nothing where something is wrong
   */
  public <T> Optional<T> made(Supplier<T> making) {
    if (wrong()) {
      return Optional.empty();
    }
    try {
      return Optional.of(making.get());
    } catch (IllegalArgumentException e) {
      String[] told = String.valueOf(e.getMessage()).split(": ", 2);
      wrong(told[0], told[told.length - 1]);
      return Optional.empty();
    }
  }
}
