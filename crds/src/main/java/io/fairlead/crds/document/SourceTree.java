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
    return TreeReader.read(file, text);
  }

  /**
   * The only document of {@code text}; none or several are an error of the tree that is returned.
   */
  public static SourceTree parseOne(String file, String text) {
    List<SourceTree> documents = parse(file, text);
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

  int errorCount() {
    return errors.size();
  }

  public List<FieldError> errors() {
    return List.copyOf(errors);
  }

  public List<FieldError> warnings() {
    return List.copyOf(warnings);
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
