package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a command is given is named where it can't be used, with what would do. */
class WrongInputTest {
  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({
    "explain, nonsense",
    "explain, localhost:9090",
    "shadow, ftp://localhost:9090",
    "shadow, /tmp"
  })
  void aPickerIsAUrl(String command, String picker) {
    ProgramRun run = ProgramRun.of(command, "--picker", picker);
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .isEqualTo(
            "%s: --picker is %s; write a URL, such as http://localhost:9090\n"
                .formatted(command, picker));
  }

  @Test
  void aModelServerIsAUrl() {
    ProgramRun run = ProgramRun.of("replay", "--workload", "chat", "--url", "nonsense");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .isEqualTo("replay: --url is nonsense; write a URL, such as http://localhost:8000\n");
  }

  /** A page of usage below it would push it out of sight. */
  @ParameterizedTest
  @CsvSource({
    "gateway --nonsense, Unknown option: '--nonsense'",
    "replay, 'Say where to: either --url URL, or --picks'",
    "simulate --seconds=x, Invalid value for option '--seconds'"
  })
  void whatIsWrongIsSaidInAFewLines(String command, String said) {
    String[] words = command.split(" ", 2);
    ProgramRun run = words.length == 1 ? ProgramRun.of(command) : ProgramRun.of(words[0], words[1]);
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .startsWith(said)
        .endsWith("'fairlead %s --help' has all options\n".formatted(words[0]))
        .hasLineCount(run.err().contains("Possible solutions") ? 3 : 2);
  }

  /** Before anything is started for it. */
  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "NaN"})
  void aRateIsAboveZero(String rate) {
    ProgramRun run = ProgramRun.of("demo", "--once", "--port=0", "--rate", rate);
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).startsWith("--rate is %s; set ".formatted(Double.valueOf(rate)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "explain --file FOLDER           | is a folder, expected a file",
        "explain id --with FOLDER        | is a folder, expected a file",
        "simulate --policy FOLDER        | is a folder, expected a file",
        "simulate --scenario FOLDER      | is a folder, expected a file",
        "demo --folder FILE              | is a file, expected a folder"
      })
  void aFileIsNoFolder(String command, String said) throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "");
    String path = (command.endsWith("FILE") ? file : folder).toString();
    String[] words = command.split(" ", -1);
    String[] arguments = new String[words.length - 1];
    for (int i = 1; i < words.length; i++) {
      arguments[i - 1] = i == words.length - 1 ? path : words[i];
    }
    ProgramRun run = ProgramRun.of(words[0], arguments);
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).isEqualTo("%s: %s: %s\n".formatted(words[0], path, said));
  }

  @ParameterizedTest
  @CsvSource({
    "simulate --profiles, ': is not UTF-8 text; save it as UTF-8'",
    "stub --profiles, ': is not UTF-8 text; save it as UTF-8'",
    "replay --url=http://127.0.0.1:1, ':2: is not UTF-8 text; save the file as UTF-8'"
  })
  void textIsUtf8(String command, String said) throws IOException {
    Path file =
        Files.write(
            folder.resolve("capture-0.requests.jsonl"), new byte[] {'\n', (byte) 0xe4, '\n'});
    String[] words = command.split(" ", -1);
    ProgramRun run = ProgramRun.of(words[0], words[1], file.toString());
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).isEqualTo("%s: %s%s\n".formatted(words[0], file, said));
  }

  @Test
  void engineProfilesThatAreNoYamlAreNamedWithTheirLine() throws IOException {
    Path file = Files.writeString(folder.resolve("mine.yaml"), "engines:\n  - name: a: b\n");
    ProgramRun run = ProgramRun.of("simulate", "--profiles", file.toString());
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .isEqualTo(
            "simulate: %s:2: is not valid YAML: mapping values are not allowed here; mend it, or quote that value\n"
                .formatted(file));
    run = ProgramRun.of("stub", "--profiles", file.toString());
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).startsWith(file + ":2: is not valid YAML: ");
  }

  @Test
  void whatIsMissingIsSaidToBe() {
    Path missing = folder.resolve("missing");
    assertThat(ProgramRun.of("explain", "--file", missing.toString()).err())
        .isEqualTo("explain: " + missing + ": is not there\n");
    assertThat(ProgramRun.of("stub", "--profiles", missing.toString()).err())
        .isEqualTo("stub: " + missing + ": is not there\n");
  }
}
