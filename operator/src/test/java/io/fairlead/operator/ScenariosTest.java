package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The document's list of scenarios names tests that there are, and says of each what it lacks. */
class ScenariosTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern SECTION =
      Pattern.compile("(?ms)^## What the operator holds$(.*?)^## ");
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| (F?\\d+) \\| ([^|]+) \\| ([^|]*)\\| ([^|]*)\\|$");
  private static final Pattern TEST = Pattern.compile("`(\\w+(?:Test|IT))(?:\\.(\\w+))?`");

  @Test
  void everyTestThatIsNamedIsThere() {
    Map<String, String> sources = sources();
    Matcher test = TEST.matcher(section());
    int named = 0;
    while (test.find()) {
      named++;
      assertThat(sources).containsKey(test.group(1));
      if (test.group(2) != null) {
        assertThat(sources.get(test.group(1)))
            .as("test %s", test.group())
            .containsPattern(
                "(?s)@(?:Test|ParameterizedTest)\\b.{0,4000}?\\bvoid " + test.group(2) + "\\(");
      }
    }
    assertThat(named).isGreaterThan(50);
  }

  @Test
  void everyScenarioIsListedWithATestOrWhatIsMissing() {
    Map<String, String> rows = new LinkedHashMap<>();
    Matcher row = ROW.matcher(section());
    while (row.find()) {
      assertThat(row.group(3).isBlank() && row.group(4).isBlank()).as(row.group(2)).isFalse();
      rows.put(row.group(1), row.group(2));
    }
    List<String> all =
        Stream.concat(
                IntStream.rangeClosed(1, 11).mapToObj(i -> "F" + i),
                IntStream.rangeClosed(1, 28).mapToObj(Integer::toString))
            .toList();
    assertThat(rows.keySet()).containsExactlyElementsOf(all);
  }

  private static String section() {
    Matcher section = SECTION.matcher(read(ROOT.resolve("docs/testing.md")));
    assertThat(section.find()).isTrue();
    return section.group(1);
  }

  private static Map<String, String> sources() {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .filter(file -> file.toString().matches(".*/src/test/java/.*(Test|IT)\\.java"))
          .collect(
              Collectors.toMap(
                  file -> file.getFileName().toString().replace(".java", ""),
                  ScenariosTest::read,
                  String::concat));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
