package io.fairlead.lab.trace;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * An object in a line of JSON, read strictly: what is not there or not of its kind is an error that
 * names file, line and field.
 */
final class JsonLine {

  private static final ObjectReader JSON =
      new ObjectMapper().reader().with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private static final int SHOWN = 40;

  private final Path file;
  private final int line;
  private final String path;
  private final JsonNode node;

  private JsonLine(Path file, int line, String path, JsonNode node) {
    this.file = file;
    this.line = line;
    this.path = path;
    this.node = node;
  }

  /**
   * Reads a line.
   *
   * @param line its number, from 1
   */
  static JsonLine parse(Path file, int line, String text) {
    try {
      JsonNode root = JSON.readTree(text);
      if (root != null && root.isObject()) {
        return new JsonLine(file, line, "", root);
      }
    } catch (JsonProcessingException e) {
      throw new InvalidTraceException(
          file, line, "is not JSON at column " + e.getLocation().getColumnNr());
    }
    throw new InvalidTraceException(file, line, "is not a JSON object");
  }

  boolean has(String field) {
    return node.has(field);
  }

  /** A whole number of 64 bits. */
  long whole(String field) {
    JsonNode value = node.path(field);
    if (!value.isIntegralNumber() || !value.canConvertToLong()) {
      throw wrong(field, "a whole number of 64 bits");
    }
    return value.longValue();
  }

  /** A whole number of 63 bits. */
  long positive(String field) {
    long value = whole(field);
    if (value < 0) {
      throw wrong(field, "a whole number from 0 up");
    }
    return value;
  }

  /** A whole number that is no less. */
  int atLeast(int least, String field) {
    JsonNode value = node.path(field);
    if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < least) {
      throw wrong(field, "a whole number from " + least + " up");
    }
    return value.intValue();
  }

  /** A number; one that JSON can't say is a string as Java writes it. */
  double number(String field) {
    JsonNode value = node.path(field);
    if (value.isNumber()) {
      return value.doubleValue();
    }
    return switch (value.asText()) {
      case "NaN" -> Double.NaN;
      case "Infinity" -> Double.POSITIVE_INFINITY;
      case "-Infinity" -> Double.NEGATIVE_INFINITY;
      default -> throw wrong(field, "a number");
    };
  }

  boolean flag(String field) {
    JsonNode value = node.path(field);
    if (!value.isBoolean()) {
      throw wrong(field, "true or false");
    }
    return value.booleanValue();
  }

  String text(String field) {
    JsonNode value = node.path(field);
    if (!value.isTextual()) {
      throw wrong(field, "a string");
    }
    return value.textValue();
  }

  /** A string that may be missing. */
  String textOr(String otherwise, String field) {
    return node.hasNonNull(field) ? text(field) : otherwise;
  }

  /** A list of strings; empty when it is missing. */
  List<String> texts(String field) {
    List<String> texts = new ArrayList<>();
    for (JsonNode element : list(field)) {
      if (!element.isTextual()) {
        throw wrong(field, "a list of strings");
      }
      texts.add(element.textValue());
    }
    return texts;
  }

  /** A list of whole numbers. */
  long[] wholes(String field) {
    if (!node.has(field)) {
      throw wrong(field, "a list of whole numbers");
    }
    JsonNode list = list(field);
    long[] wholes = new long[list.size()];
    for (int i = 0; i < wholes.length; i++) {
      JsonNode element = list.get(i);
      if (!element.isIntegralNumber() || !element.canConvertToLong()) {
        throw new InvalidTraceException(
            file,
            line,
            "%s[%d] is %s; a whole number of 64 bits is needed"
                .formatted(path + field, i, shortened(element)));
      }
      wholes[i] = element.longValue();
    }
    return wholes;
  }

  /** A list of numbers. */
  double[] numbers(String field) {
    if (!node.has(field)) {
      throw wrong(field, "a list of numbers");
    }
    JsonNode list = list(field);
    double[] numbers = new double[list.size()];
    for (int i = 0; i < numbers.length; i++) {
      if (!list.get(i).isNumber()) {
        throw wrong(field, "a list of numbers");
      }
      numbers[i] = list.get(i).doubleValue();
    }
    return numbers;
  }

  /** Numbers of 64 bits, the least significant byte first, in Base64. */
  long[] packed(String field) {
    JsonNode value = node.path(field);
    try {
      byte[] bytes = Base64.getDecoder().decode(value.asText());
      if (value.isTextual() && bytes.length % Long.BYTES == 0) {
        long[] numbers = new long[bytes.length / Long.BYTES];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(numbers);
        return numbers;
      }
    } catch (IllegalArgumentException e) {
      // said below
    }
    throw wrong(field, "Base64 of 8 bytes per block");
  }

  JsonLine object(String field) {
    JsonNode value = node.path(field);
    if (!value.isObject()) {
      throw wrong(field, "an object");
    }
    return new JsonLine(file, line, path + field + ".", value);
  }

  List<JsonLine> objects(String field) {
    List<JsonLine> objects = new ArrayList<>();
    for (JsonNode element : list(field)) {
      if (!element.isObject()) {
        throw wrong(field, "a list of objects");
      }
      objects.add(new JsonLine(file, line, path + field + "[" + objects.size() + "].", element));
    }
    return objects;
  }

  /** An object's fields, each read by {@code value}; empty when it is missing. */
  <T> Map<String, T> map(String field, Function<JsonLine, Function<String, T>> value) {
    if (!node.has(field)) {
      return Map.of();
    }
    JsonLine object = object(field);
    Map<String, T> map = new TreeMap<>();
    object
        .node
        .fieldNames()
        .forEachRemaining(name -> map.put(name, value.apply(object).apply(name)));
    return map;
  }

  private JsonNode list(String field) {
    JsonNode value = node.path(field);
    if (!value.isArray() && !value.isMissingNode()) {
      throw wrong(field, "a list");
    }
    return value;
  }

  InvalidTraceException wrong(String field, String needed) {
    JsonNode found = node.path(field);
    String what = found.isMissingNode() ? "is missing" : "is " + shortened(found);
    return invalid(field + " " + what + "; " + needed + " is needed");
  }

  /** Of a problem that begins with a field's name. */
  InvalidTraceException invalid(String problem) {
    return new InvalidTraceException(file, line, path + problem);
  }

  private static String shortened(JsonNode node) {
    String text = node.toString();
    return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
  }
}
