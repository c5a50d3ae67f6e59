package io.fairlead.crds.document;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;

/**
 * Reads YAML (and so JSON) into trees. Unlike Jackson's own tree reading it goes on after a
 * duplicate key, keeps lines, and refuses aliases, which could blow a small file up to any size.
 */
final class TreeReader {
  /** Characters of a config, which anybody who may edit an object can make as long. */
  static final int LONGEST_TEXT = 4 << 20;

  private static final int DEEPEST = 64;
  private static final YAMLFactory YAML = yaml();

  private final String file;
  private final String text;
  private final int longest;
  private final boolean withLines;
  private Map<String, Integer> lines = new HashMap<>();
  private List<FieldError> errors = new ArrayList<>();

  /** The lines of each document so far. */
  private final List<Map<String, Integer>> read = new ArrayList<>();

  private TreeReader(String file, String text, int longest, boolean withLines) {
    this.file = file;
    this.text = text;
    this.longest = longest;
    this.withLines = withLines;
  }

  /**
   * Reads the text. Lines are wanted only where something is wrong, and cost as much as the rest:
   * the text is read again for them.
   *
   * @param longest characters that the text may have
   */
  static List<SourceTree> read(String file, String text, int longest) {
    List<SourceTree> documents = new TreeReader(file, text, longest, false).documents();
    return documents.stream().allMatch(tree -> tree.errors().isEmpty())
        ? documents
        : new TreeReader(file, text, longest, true).documents();
  }

  private static YAMLFactory yaml() {
    LoaderOptions options = new LoaderOptions();
    // How long a text may be is looked at before.
    options.setCodePointLimit(Integer.MAX_VALUE);
    options.setNestingDepthLimit(4 * DEEPEST);
    return YAMLFactory.builder()
        .loaderOptions(options)
        // As Kubernetes reads it, to which a field without a value is one that is not set.
        .enable(YAMLParser.Feature.EMPTY_STRING_AS_NULL)
        .streamReadConstraints(StreamReadConstraints.builder().maxNumberLength(400).build())
        .build();
  }

  List<SourceTree> documents() {
    List<SourceTree> documents = new ArrayList<>();
    if (text.length() > longest) {
      documents.add(failed(0, "is longer than " + longest + " characters; split it"));
      return documents;
    }
    try (YAMLParser parser = YAML.createParser(text)) {
      while (parser.nextToken() != null) {
        JsonNode root = value(parser, FieldPath.ROOT, 0);
        if (!isEmpty(root) || !errors.isEmpty()) {
          documents.add(take(root));
        }
      }
    } catch (JsonProcessingException e) {
      int line = e.getLocation() == null ? 0 : e.getLocation().getLineNr();
      documents.add(failed(line, "is not valid YAML: " + oneLine(e.getOriginalMessage())));
    } catch (IOException | RuntimeException e) {
      // The YAML scanner lets some of its own exceptions through; whatever it throws, the text is
      // what is wrong.
      documents.add(failed(0, "is not valid YAML: " + oneLine(String.valueOf(e.getMessage()))));
    }
    return documents;
  }

  /** An empty document is null or, after a bare separator, an empty text. */
  private static boolean isEmpty(JsonNode root) {
    return root.isNull() || (root.isTextual() && root.textValue().isEmpty());
  }

  private SourceTree failed(int line, String message) {
    errors.add(new FieldError(file, line, "", message));
    return take(MissingNode.getInstance());
  }

  private SourceTree take(JsonNode root) {
    Map<String, Integer> known = lines;
    int document = read.size();
    SourceTree tree =
        new SourceTree(file, root, withLines ? () -> known : () -> linesAgain(document));
    errors.forEach(tree::add);
    read.add(lines);
    lines = new HashMap<>();
    errors = new ArrayList<>();
    return tree;
  }

  private Map<String, Integer> linesAgain(int document) {
    TreeReader again = new TreeReader(file, text, longest, true);
    again.documents();
    return again.read.get(document);
  }

  private JsonNode value(YAMLParser parser, FieldPath path, int depth) throws IOException {
    if (withLines) {
      lines.putIfAbsent(path.text(), parser.currentTokenLocation().getLineNr());
    }
    JsonNodeFactory nodes = JsonNodeFactory.instance;
    JsonToken token = parser.currentToken();
    if (parser.isCurrentAlias()) {
      error(parser, path, "is a YAML alias, which is not supported here; write the value out");
      return nodes.nullNode();
    }
    return switch (token) {
      case START_OBJECT -> object(parser, path, depth + 1);
      case START_ARRAY -> array(parser, path, depth + 1);
      case VALUE_NUMBER_INT ->
          switch (parser.getNumberType()) {
            case INT, LONG -> nodes.numberNode(parser.getLongValue());
            default -> nodes.numberNode(parser.getBigIntegerValue());
          };
      case VALUE_NUMBER_FLOAT -> real(parser, path);
      case VALUE_TRUE -> nodes.booleanNode(true);
      case VALUE_FALSE -> nodes.booleanNode(false);
      case VALUE_NULL -> nodes.nullNode();
      default -> text(parser, path);
    };
  }

  private JsonNode real(YAMLParser parser, FieldPath path) throws IOException {
    double number = parser.getDoubleValue();
    if (!Double.isFinite(number)) {
      error(parser, path, "is " + FieldPath.quote(parser.getText()) + ", expected a finite number");
    }
    return JsonNodeFactory.instance.numberNode(number);
  }

  private JsonNode text(YAMLParser parser, FieldPath path) throws IOException {
    String value = parser.getText();
    if (!isWellFormed(value)) {
      error(
          parser,
          path,
          "holds half of a surrogate pair, which no UTF-8 text can; write the character itself");
    }
    return JsonNodeFactory.instance.textNode(value);
  }

  private JsonNode object(YAMLParser parser, FieldPath path, int depth) throws IOException {
    if (tooDeep(parser, path, depth)) {
      return JsonNodeFactory.instance.nullNode();
    }
    ObjectNode object = JsonNodeFactory.instance.objectNode();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      if (parser.currentToken() == null) {
        break;
      }
      String key = parser.currentName();
      int line = parser.currentTokenLocation().getLineNr();
      FieldPath field = path.field(key);
      Integer first = withLines ? lines.putIfAbsent(field.text(), line) : null;
      if (!isWellFormed(key)) {
        error(parser, path, "has a key with half of a surrogate pair: " + FieldPath.quote(key));
      }
      parser.nextToken();
      JsonNode value = value(parser, field, depth);
      if (object.has(key)) {
        errors.add(
            new FieldError(
                file,
                line,
                field.text(),
                "is a duplicate key, first set in line " + first + "; remove one"));
      } else {
        object.set(key, value);
      }
    }
    return object;
  }

  private JsonNode array(YAMLParser parser, FieldPath path, int depth) throws IOException {
    if (tooDeep(parser, path, depth)) {
      return JsonNodeFactory.instance.nullNode();
    }
    ArrayNode array = JsonNodeFactory.instance.arrayNode();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (parser.currentToken() == null) {
        break;
      }
      array.add(value(parser, path.element(array.size()), depth));
    }
    return array;
  }

  private boolean tooDeep(YAMLParser parser, FieldPath path, int depth) throws IOException {
    if (depth <= DEEPEST) {
      return false;
    }
    error(parser, path, "is nested deeper than " + DEEPEST + " levels");
    parser.skipChildren();
    return true;
  }

  private void error(YAMLParser parser, FieldPath path, String message) {
    errors.add(
        new FieldError(file, parser.currentTokenLocation().getLineNr(), path.text(), message));
  }

  /** Whether every surrogate of {@code text} is one of a pair. */
  static boolean isWellFormed(String text) {
    return text.codePoints()
        .noneMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
  }

  /** The YAML scanner's message without its quotation of the text, which may be long. */
  private static String oneLine(@Nullable String message) {
    String said =
        String.valueOf(message)
            .lines()
            .filter(line -> !line.startsWith(" ") && !line.isBlank())
            .collect(Collectors.joining(", "));
    return said.length() > 300 ? said.substring(0, 300) + "…" : said;
  }
}
