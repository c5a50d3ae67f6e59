package io.fairlead.crds.document;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One document of a file as a tree that remembers the lines of its fields, and the place where its
 * errors are collected.
 *
 * <p>Used by one thread.
 */
public final class SourceTree {
  private final String file;
  private final JsonNode root;
  private final Supplier<Map<String, Integer>> lines;
  private @Nullable Map<String, Integer> linesIfAsked;
  private final List<FieldError> errors = new ArrayList<>();
  private final List<FieldError> warnings = new ArrayList<>();

  /**
   * @param lines the line of each field by its path; asked for when there is something to tell
   */
  SourceTree(String file, JsonNode root, Supplier<Map<String, Integer>> lines) {
    this.file = file;
    this.root = root;
    this.lines = lines;
  }

  /** A tree that was not read from text and so knows no lines. */
  public static SourceTree of(String name, JsonNode root) {
    return new SourceTree(name, root, Map::of);
  }

  /**
   * The documents of {@code text}, YAML or JSON, empty ones left out; what cannot be parsed is in
   * their errors.
   */
  public static List<SourceTree> parse(String file, String text) {
    return TreeReader.read(file, text, TreeReader.LONGEST_TEXT);
  }

  /**
   * The same of text of any length, such as a list of all objects of a cluster; how long it may be
   * is for the caller to say, who gave it.
   */
  public static List<SourceTree> parseWhole(String file, String text) {
    return TreeReader.read(file, text, Integer.MAX_VALUE);
  }

  /**
   * The only document of {@code text}; none or several are an error of the tree that is returned.
   */
  public static SourceTree parseOne(String file, String text) {
    return one(file, parse(file, text));
  }

  /** The only document of text of any length, as of {@link #parseWhole}. */
  public static SourceTree parseWholeOne(String file, String text) {
    return one(file, parseWhole(file, text));
  }

  private static SourceTree one(String file, List<SourceTree> documents) {
    if (documents.size() == 1) {
      return documents.getFirst();
    }
    SourceTree none = new SourceTree(file, MissingNode.getInstance(), Map::of);
    none.error(FieldPath.ROOT, "holds " + documents.size() + " documents, expected exactly one");
    return none;
  }

  public String file() {
    return file;
  }

  public JsonNode root() {
    return root;
  }

  public void error(FieldPath path, String message) {
    errors.add(at(path, message));
  }

  public void warning(FieldPath path, String message) {
    warnings.add(at(path, message));
  }

  void add(FieldError error) {
    errors.add(error);
  }

  public int errorCount() {
    return errors.size();
  }

  public int warningCount() {
    return warnings.size();
  }

  public List<FieldError> errors() {
    return errors(0);
  }

  /** All but the first {@code from} errors. */
  public List<FieldError> errors(int from) {
    return List.copyOf(errors.subList(from, errors.size()));
  }

  public List<FieldError> warnings() {
    return warnings(0);
  }

  /** All but the first {@code from} warnings. */
  public List<FieldError> warnings(int from) {
    return List.copyOf(warnings.subList(from, warnings.size()));
  }

  /** Whether there is an error at the path or below it. */
  boolean isWrong(FieldPath path) {
    String at = path.text();
    return errors.stream()
        .map(FieldError::path)
        .anyMatch(
            wrong ->
                wrong.startsWith(at)
                    && (wrong.length() == at.length()
                        || ".[".indexOf(wrong.charAt(at.length())) >= 0));
  }

  /** Throws all errors so far, if there are any. */
  public void throwErrors() throws DocumentException {
    if (!errors.isEmpty()) {
      throw new DocumentException(errors);
    }
  }

  private FieldError at(FieldPath path, String message) {
    Map<String, Integer> known = linesIfAsked;
    if (known == null) {
      known = lines.get();
      linesIfAsked = known;
    }
    String text = path.text();
    return new FieldError(file, known.getOrDefault(text, 0), text, message);
  }
}
