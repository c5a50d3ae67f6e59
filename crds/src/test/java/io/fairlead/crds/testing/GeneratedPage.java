package io.fairlead.crds.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * A page of the documentation that a test makes from code, and holds to it. With {@code
 * -Dfairlead.document.write=true} the test writes it instead.
 */
public final class GeneratedPage {
  private static final boolean WRITES = Boolean.getBoolean("fairlead.document.write");

  private final StringBuilder text = new StringBuilder();

  /**
   * Begins with a title and what the page is about.
   *
   * @param introduction Markdown, one or more paragraphs
   */
  public GeneratedPage(String title, String introduction) {
    text.append("# ").append(title).append("\n\n").append(introduction.strip()).append("\n\n");
    text.append(
        "This page is written by a test from the code, and held to it by the same test: not to be"
            + " edited.\n");
  }

  /** Begins a part. */
  public GeneratedPage section(String title) {
    return paragraph("## " + title);
  }

  /** Adds Markdown as it is, and nothing where that is blank. */
  public GeneratedPage paragraph(String markdown) {
    if (!markdown.isBlank()) {
      text.append('\n').append(markdown.strip()).append('\n');
    }
    return this;
  }

  /** Begins a table. */
  public GeneratedPage table(String... titles) {
    text.append('\n');
    row(titles);
    text.append("|---".repeat(titles.length)).append("|\n");
    return this;
  }

  /** Adds a row to the table. */
  public GeneratedPage row(String... cells) {
    text.append(
        Arrays.stream(cells)
            .map(cell -> cell.strip().replace("\n", " ").replace("|", "\\|"))
            .map(cell -> cell.isEmpty() ? " |" : " " + cell + " |")
            .collect(Collectors.joining("", "|", "\n")));
    return this;
  }

  /** As text that stands as it is. */
  public static String code(String literal) {
    if (literal.isEmpty()) {
      return "`\"\"`";
    }
    return literal.contains("`") ? "`` " + literal + " ``" : "`" + literal + "`";
  }

  /** What is written for people who read plain text, as Markdown. */
  public static String prose(String plain) {
    return plain.strip().replaceAll("\\s+", " ").replace("<", "&lt;").replace("*", "\\*");
  }

  /**
   * Compares the page with {@code docs/name}, or writes it there.
   *
   * @param test that makes the page, whose name tells how it is run
   */
  public void hold(String name, Class<?> test) throws IOException {
    Path page = docs().resolve(name);
    if (WRITES) {
      Files.writeString(page, text);
      return;
    }
    boolean integration = test.getSimpleName().endsWith("IT");
    assertThat(Files.exists(page) ? Files.readString(page) : "")
        .as(
            "docs/%s is not what the code says. This writes it anew: MAVEN_ARGS='-D%s=%s"
                + " -D%s.failIfNoSpecifiedTests=false -Dfairlead.document.write=true' ./hack/test %s",
            name,
            integration ? "it.test" : "test",
            test.getSimpleName(),
            integration ? "failsafe" : "surefire",
            integration ? "it" : "unit")
        .isEqualTo(text.toString());
  }

  /** Of the checkout that the test is run in. */
  private static Path docs() {
    Path at = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(at.resolve("docs"))) {
      at = at.getParent();
      assertThat(at).as("a folder with docs").isNotNull();
    }
    return at.resolve("docs");
  }
}
