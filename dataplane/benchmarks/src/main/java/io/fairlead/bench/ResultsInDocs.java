package io.fairlead.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Puts the tables of the last runs into a document, between two marks. */
final class ResultsInDocs {

  private static final String BEGIN = "<!-- results: ./hack/bench --update-docs -->";
  private static final String END = "<!-- end of results -->";

  private ResultsInDocs() {}

  /**
   * Replaces what is between the marks.
   *
   * @throws IllegalStateException if a table is missing or the document has no marks
   */
  static void update(Path document, Path results) throws IOException {
    String text = Files.readString(document);
    int begin = text.indexOf(BEGIN);
    int end = text.indexOf(END);
    if (begin < 0 || end < begin) {
      throw new IllegalStateException(
          document + " has no lines \"" + BEGIN + "\" and \"" + END + "\"; add them");
    }
    StringBuilder tables = new StringBuilder(BEGIN + "\n\n" + Machine.kind() + "\n");
    for (String name : Bench.NAMES) {
      Path table = results.resolve(name + ".md");
      if (!Files.exists(table)) {
        throw new IllegalStateException(
            table
                + " is missing; run ./hack/bench "
                + name
                + " first, or all with ./hack/bench all");
      }
      String rows = Files.readString(table);
      tables.append('\n').append(rows.substring(rows.indexOf('|')).strip()).append('\n');
    }
    Files.writeString(
        document,
        text.substring(0, begin)
            + tables.toString().stripTrailing()
            + "\n\n"
            + text.substring(end));
  }
}
