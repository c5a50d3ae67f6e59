package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.StringEntry;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The page of metrics is written from a live picker, by {@link TelemetryIT}: no metric of the code
 * is left out there because it had no cause. The names in tracing are those of spans' attributes.
 */
class MetricNamesTest {
  private static final Pattern NAME = Pattern.compile("fairlead[._][a-z][a-z._]*[a-z]");

  /** What names of a histogram's series end in. */
  private static final Pattern SERIES = Pattern.compile("_(bucket|count|sum)$");

  private static final Pattern DOCUMENTED = Pattern.compile("(?m)^\\| `(\\w+)`");

  @Test
  void everyNameInTheCodeIsOnThePage() throws IOException, URISyntaxException {
    Set<String> documented =
        DOCUMENTED
            .matcher(Files.readString(Path.of("../../docs/reference/metrics.md")))
            .results()
            .map((MatchResult row) -> row.group(1))
            .collect(Collectors.toSet());
    Path classes =
        Path.of(DataPlane.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    Set<String> names = new TreeSet<>();
    try (Stream<Path> files = Files.walk(classes)) {
      files
          .filter(file -> file.toString().endsWith(".class"))
          .filter(file -> !file.startsWith(classes.resolve("io/fairlead/epp/tracing")))
          .forEach(file -> names.addAll(texts(file)));
    }
    assertThat(names)
        .hasSizeGreaterThan(50)
        .allSatisfy(
            name ->
                assertThat(documented)
                    .as(name)
                    .anyMatch(row -> row.startsWith(name.replace('.', '_'))));
  }

  private static Set<String> texts(Path file) {
    try {
      Set<String> texts = new TreeSet<>();
      ClassFile.of()
          .parse(Files.readAllBytes(file))
          .constantPool()
          .forEach(
              entry -> {
                if (entry instanceof StringEntry text
                    && NAME.matcher(text.stringValue()).matches()) {
                  texts.add(SERIES.matcher(text.stringValue()).replaceFirst(""));
                }
              });
      return texts;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
