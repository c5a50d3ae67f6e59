package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.capture.CaptureConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A trace is sent through a gateway, the gateway's capture is replayed both ways. */
final class ReplayIT {

  @TempDir private Path temporary;

  @Test
  void aTraceIsSentCapturedAndReplayed() throws Exception {
    Path trace = Files.writeString(temporary.resolve("trace.jsonl"), trace(40));
    Path capture = temporary.resolve("capture");
    try (GatewayUnderTest gateway =
        new GatewayUnderTest(temporary, parts -> parts.capture(CaptureConfig.to(capture)))) {
      String url = gateway.url();

      ProgramRun sent = run(trace.toString(), "--url", url, "--model", "m", "--speed", "10");
      assertThat(sent.exitCode()).as(sent.err()).isZero();
      assertThat(sent.out())
          .contains("trace: 40 requests sent in ")
          .contains("40 succeeded, 0 rejected (429), 0 failed")
          .contains("time per output token")
          // Of each prompt but the first, one of two blocks of 512 tokens is in some cache.
          .containsPattern("[\\d,]+ of them cached \\([1-4]\\d\\.\\d\\d %\\), 160 put out");
      ProgramRun named =
          run("--workload", "gsp-high", "--url", url, "--model", "m", "--limit", "20", "--json");
      assertThat(named.exitCode()).as(named.err()).isZero();
      assertThat(named.out()).contains("\"workload\" : \"gsp-high\"", "\"succeeded\" : 20");
      assertThat(run(trace.toString(), "--url", url).exitCode()).isEqualTo(1);
    }

    ProgramRun picks = run(capture.toString(), "--picks");
    assertThat(picks.exitCode()).as(picks.err() + picks.out()).isZero();
    assertThat(picks.out())
        .contains("100 decisions: 100 came out the same (100.00 %)")
        .contains("The capture is complete");
    forge(capture);
    assertThat(run(capture.toString(), "--picks").exitCode()).isEqualTo(1);
  }

  @Test
  void saysWhatIsMissing() {
    assertThat(run("trace").err()).contains("either --url URL, or --picks");
    assertThat(run("--picks").err()).contains("--picks needs a capture");
    assertThat(run("--url", "http://127.0.0.1:1").err()).contains("either a trace, or --workload");
    assertThat(run("trace", "--load", "1", "--url", "http://127.0.0.1:1").err())
        .contains("--load goes with --workload");
    ProgramRun none = run("no-such-file", "--url", "http://127.0.0.1:1");
    assertThat(none.exitCode()).isEqualTo(1);
    assertThat(none.err()).contains("no-such-file: is not there");
  }

  private static void forge(Path capture) throws IOException {
    try (Stream<Path> files = Files.list(capture)) {
      Path requests =
          files.filter(f -> f.toString().endsWith(".requests.jsonl")).findFirst().orElseThrow();
      Files.writeString(
          requests, Files.readString(requests).replaceFirst("\"matched\":\\d+", "\"matched\":999"));
    }
  }

  private static String trace(int requests) {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < requests; i++) {
      lines.append(
          "{\"timestamp\": %d, \"input_length\": 1024, \"output_length\": 4, \"hash_ids\": [1, %d]}\n"
              .formatted(i * 10, i + 2));
    }
    return lines.toString();
  }

  private static ProgramRun run(String... arguments) {
    return ProgramRun.of("replay", arguments);
  }
}
