package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** What is wrong on the command line is told before anything listens. */
final class StubCommandTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--servers=0 | --servers: needs 1 or more",
        "--servers=2 --listen=127.0.0.1:1,127.0.0.1:2 | a single address to count from",
        "--servers=100 --port=65500 | --servers: 100 from port 65500 on is past 65535",
        "--threads=0 | --threads: 0 is not >= 1",
        "--shutdown-timeout=-1 | --shutdown-timeout: -1 is not >= 0",
        "--engine=tgi | engine: no engine \"tgi\"; known: vllm, sglang",
        "--profile=tpu | profile: no engine profile \"tpu\"",
        "--slowed-by=0 | factor: 0.0 is not a finite number > 0",
        "--kv-tokens=1 | kvTokens: 1 holds no block",
        "--max-loras=-1 | maxAdapters: -1 is not >= 0",
        "--time-scale=-1 | timeScale: -1.0 is not a number >= 0"
      })
  void aWrongOptionIsTold(String options, String problem) {
    CommandLine commandLine = Fairlead.commandLine();
    var err = new StringWriter();
    commandLine.setErr(new PrintWriter(err));
    assertThat(commandLine.execute(("stub " + options).split(" ", -1))).isEqualTo(2);
    assertThat(err.toString()).contains(problem);
  }
}
