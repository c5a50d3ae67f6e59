package io.fairlead.crds.convert;

import com.fasterxml.jackson.databind.JsonNode;
import io.fairlead.crds.document.SourceTree;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One document of a file.
 *
 * @param file name of the file
 * @param line in which it begins, from 1
 * @param text as it stands there
 * @param tree null where it holds nothing that could be converted, and need not even be YAML
 */
record Document(String file, int line, String text, @Nullable SourceTree tree) {

  private static final Pattern OURS =
      Pattern.compile(
          "[\"']?kind[\"']?\\s*:\\s*[\"']?(" + String.join("|", Converter.KINDS) + ")\\b");

  /** A line like this separates documents, wherever it stands: no text in YAML can hold it. */
  private static final Pattern SEPARATOR = Pattern.compile("---(?=\\s|$)");

  /** The documents of a file, without those that hold nothing at all. */
  static List<Document> split(String file, String text) {
    List<Document> documents = new ArrayList<>();
    StringBuilder now = new StringBuilder();
    int begin = 1;
    int line = 0;
    boolean ends = false;
    for (String each : text.splitWithDelimiters("\n", 0)) {
      if (each.equals("\n")) {
        if (!ends) {
          now.append('\n');
        }
        ends = false;
        continue;
      }
      line++;
      if (SEPARATOR.matcher(each).lookingAt()) {
        add(documents, file, begin, now.toString());
        now.setLength(0);
        // An object may begin in the separator's own line.
        String rest = each.substring(3).strip();
        now.append(rest);
        ends = rest.isEmpty();
        begin = ends ? line + 1 : line;
      } else {
        now.append(each);
      }
    }
    add(documents, file, begin, now.toString());
    return documents;
  }

  private static void add(List<Document> documents, String file, int begin, String text) {
    if (text.isBlank()) {
      return;
    }
    // Lines are told as they are in the file.
    String padded = "\n".repeat(begin - 1) + text;
    documents.add(
        new Document(
            file,
            begin,
            text,
            OURS.matcher(text).find() ? SourceTree.parseWholeOne(file, padded) : null));
  }

  /** Whether it holds objects in a list, as {@code kubectl get -o yaml} prints them. */
  boolean isList() {
    if (tree == null) {
      return false;
    }
    JsonNode root = tree.root();
    return root.path("kind").asText().endsWith("List") && root.path("items").isArray();
  }
}
