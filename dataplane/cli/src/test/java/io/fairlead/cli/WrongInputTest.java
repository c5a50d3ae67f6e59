package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
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

  /** Who names it relies on it. Nothing is read, started or written. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "simulate --gate --seconds=1              | --seconds does not go with --gate",
        "simulate --gate --warm-up=1              | --warm-up does not go with --gate",
        "simulate --gate --update=f --handicap=hit-rate=0.1 | --handicap does not go with --update",
        "simulate --gate --update=f --scenario=slow-server | --scenario does not go with --update",
        "simulate --gate --update=f --perception=real | --perception does not go with --update",
        "simulate --gate --update=f --engine-noise | --engine-noise does not go with --update",
        "simulate --gate --update=f --following   | --no-following does not go with --update",
        "replay t --picks --json                  | --json goes without --picks",
        "replay t --picks --limit=1               | --limit goes without --picks",
        "replay t --picks --speed=2               | --speed goes without --picks",
        "replay t --picks --duration=1s           | --duration goes without --picks",
        "replay t --picks --model=m               | --model goes without --picks",
        "replay t --picks --seed=2                | --seed goes without --picks",
        "replay t --picks --load=2                | --load goes without --picks",
        "replay t --picks --timeout=1s            | --timeout goes without --picks",
        "replay t --picks --stream-share=0        | --stream-share goes without --picks",
        "replay t --picks --ignore-eos            | --ignore-eos goes without --picks",
        "replay t --url=http://h --seed=2         | --seed goes with --workload",
        "replay t --url=http://h --load=2         | --load goes with --workload",
        "replay t --url=http://h --limit=-1       | --limit is -1; set 1 or more",
        "replay t --url=http://h --limit=0        | --limit is 0; set 1 or more",
        "epp --endpoints=f --pool-name=p          | --pool-name goes without --endpoints",
        "epp --endpoints=f --pool-namespace=n     | --pool-namespace goes without --endpoints",
        "epp --endpoints=f --pool-group=g         | --pool-group goes without --endpoints",
        "epp --endpoints=f --endpoint-selector=a=b | --endpoint-selector goes without --endpoints",
        "epp --endpoints=f --endpoint-target-ports=1 | --endpoint-target-ports goes without",
        "epp --endpoints=f --picker=p             | --picker goes without --endpoints",
        "epp --endpoints=f --picker-service=s     | --picker-service goes without --endpoints",
        "epp --endpoints=f --config-map=m         | --config-map goes without --endpoints",
        "epp --endpoints=f --checkpoint=d         | --checkpoint goes without --endpoints",
        "gateway --folder=d --picker-service=s    | --folder has all there is",
        "gateway --folder=d --pool-namespace=n    | --folder has all there is",
        "gateway --folder=d --endpoint-target-ports=1 | --folder has all there is",
        "epp --endpoints=f --capture-share=0.5    | --capture-share needs --capture",
        "epp --endpoints=f --capture-file-size=1  | --capture-file-size needs --capture",
        "epp --endpoints=f --capture-files=2      | --capture-files needs --capture",
        "epp --endpoints=f --capture-header=h     | --capture-header needs --capture",
        "gateway --folder=d --capture-salt-file=f | --capture-salt-file needs --capture",
        "epp --endpoints=f --handover-port=1      | --handover-port needs --handover-secret-file",
        "epp --endpoints=f --handover-peer=h:1    | --handover-peer needs --handover-secret-file",
        "gateway --folder=d --handover-timeout=1s | --handover-timeout needs",
        "stub --port=0 --listen=127.0.0.1:0       | --listen goes without --port",
        "stub --kv-events-topic=t                 | --kv-events-topic needs --kv-events-port",
        "stub --kv-events-form=arrays             | --kv-events-form needs --kv-events-port",
        "stub --kv-events-replay-port=1           | --kv-events-replay-port needs --kv-events-port",
      })
  void anOptionThatWouldDoNothingIsRefused(String command, String said) {
    String[] words = command.strip().split(" ", -1);
    ProgramRun run = ProgramRun.of(words[0], Arrays.copyOfRange(words, 1, words.length));
    assertThat(run.err()).startsWith(said);
    assertThat(run.exitCode()).isEqualTo(2);
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
