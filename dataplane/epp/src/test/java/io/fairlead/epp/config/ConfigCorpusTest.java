package io.fairlead.epp.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Documents in files: what people write, and exactly what they are told. A new file in {@code
 * configs/refused} or {@code configs/accepted} is a new case; what is expected stands in comments
 * that begin with {@code # refused:} or {@code # warning:}, without the file's name.
 */
class ConfigCorpusTest {

  private static final String REFUSED = "# refused: ";
  private static final String WARNING = "# warning: ";

  @TempDir Path folder;
  private Path endpoints = Path.of("");

  @BeforeEach
  void writeEndpoints() throws IOException {
    endpoints =
        Files.writeString(
            folder.resolve("endpoints.yaml"),
            "endpoints: [{name: one, address: 10.0.0.1, port: 8000}]\n");
  }

  static List<Path> refused() throws IOException, URISyntaxException {
    return files("/configs/refused");
  }

  static List<Path> accepted() throws IOException, URISyntaxException {
    return files("/configs/accepted");
  }

  @ParameterizedTest
  @MethodSource("refused")
  void isRefusedForEveryReasonGiven(Path file) throws IOException {
    List<String> expected = comments(file, REFUSED);
    assertThat(expected).as("what is expected of %s", file).isNotEmpty();
    String message =
        switch (read(file)) {
          case ConfigOffer.Unreadable unreadable -> unreadable.message();
          case ConfigOffer.Document document ->
              switch (compile(document)) {
                case DocumentCompiler.Result.Refused refused -> refused.message();
                case DocumentCompiler.Result.Usable usable ->
                    fail(file + " was accepted: " + usable.config().source());
              };
        };
    assertThat(message.lines().map(line -> withoutFile(file, line)))
        .as("%s", file.getFileName())
        .containsExactlyElementsOf(expected);
  }

  @ParameterizedTest
  @MethodSource("accepted")
  void isAcceptedWithEveryWarningGiven(Path file) throws IOException {
    switch (read(file)) {
      case ConfigOffer.Unreadable unreadable -> fail(unreadable.message());
      case ConfigOffer.Document document -> {
        switch (compile(document)) {
          case DocumentCompiler.Result.Refused refused -> fail(refused.message());
          case DocumentCompiler.Result.Usable usable ->
              assertThat(usable.warnings().stream().map(line -> withoutFile(file, line)))
                  .as("%s", file.getFileName())
                  .containsExactlyElementsOf(comments(file, WARNING));
        }
      }
    }
  }

  @Test
  void thereAreManyCases() throws IOException, URISyntaxException {
    assertThat(refused()).hasSizeGreaterThanOrEqualTo(50);
    assertThat(accepted()).hasSizeGreaterThanOrEqualTo(5);
  }

  private ConfigOffer read(Path file) throws IOException {
    return ConfigReaders.files(FileState.read(List.of(endpoints, file)), endpoints, file);
  }

  private static DocumentCompiler.Result compile(ConfigOffer.Document document) {
    return new DocumentCompiler(List.of()).compile(document, null);
  }

  private static List<String> comments(Path file, String mark) throws IOException {
    return Files.readAllLines(file).stream()
        .filter(line -> line.startsWith(mark))
        .map(line -> line.substring(mark.length()))
        .toList();
  }

  private static String withoutFile(Path file, String line) {
    assertThat(line).startsWith(file + ":");
    return line.substring(file.toString().length() + 1).strip();
  }

  private static List<Path> files(String folder) throws IOException, URISyntaxException {
    Path path = Path.of(Objects.requireNonNull(ConfigCorpusTest.class.getResource(folder)).toURI());
    try (Stream<Path> files = Files.list(path)) {
      return files.sorted().toList();
    }
  }
}
