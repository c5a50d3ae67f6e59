package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the scripts in hack/ share. */
@Timeout(60)
final class ScriptsIT {

  /** Swallows failures of its commands, so that nothing but a signal of its own ends it. */
  private static final String SCRIPT =
      """
      . ../../hack/lib.sh
      . ../../hack/processes.sh
      ask_now_and_then() { while :; do sleep 0.1 || true; done; }
      ask_now_and_then >/dev/null &
      asking=$!
      start server sleep 600
      echo "$work"
      echo "$asking"
      echo "$started"
      pause 600
      """;

  @Test
  void aSignalEndsAllThatAScriptStarted() throws IOException, InterruptedException {
    Process script =
        new ProcessBuilder("bash", "-c", SCRIPT)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (BufferedReader said = script.inputReader(StandardCharsets.UTF_8)) {
      Path work = Path.of(said.readLine());
      ProcessHandle asking = ProcessHandle.of(Long.parseLong(said.readLine())).orElseThrow();
      ProcessHandle server = ProcessHandle.of(Long.parseLong(said.readLine())).orElseThrow();
      assertThat(work).isDirectory();

      script.destroy();
      boolean ended = script.waitFor(15, TimeUnit.SECONDS);
      boolean left = asking.isAlive() || server.isAlive();
      asking.destroyForcibly();
      server.destroyForcibly();

      assertThat(ended).isTrue();
      assertThat(left).isFalse();
      assertThat(script.exitValue()).isEqualTo(143);
      assertThat(work).doesNotExist();
    } finally {
      script.destroyForcibly();
    }
  }
}
