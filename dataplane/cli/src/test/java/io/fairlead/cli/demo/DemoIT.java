package io.fairlead.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import picocli.CommandLine;

@ResourceLock(Resources.SYSTEM_OUT)
final class DemoIT {

  @Test
  void oneRoundSucceedsAndSaysSo(@TempDir Path folder) {
    Run run =
        demo(
            "--once",
            "--port",
            "0",
            "--rate",
            "60",
            "--time-scale",
            "0.02",
            "--folder",
            folder.toString());

    assertThat(run.exitCode()).as(run.output()).isZero();
    assertThat(run.output())
        .contains("curl -s http://127.0.0.1:")
        .containsPattern("See what it does: http://127\\.0\\.0\\.1:\\d+/console/")
        .containsPattern("(?m)^stub-a +0 +0 ")
        .containsPattern("(?m)^stub-b +0 +0 ")
        .containsPattern("(?m)^stub-c +0 +0 ")
        .containsPattern("150 requests sent: 1\\d\\d succeeded, \\d+ rejected \\(429\\), 0 failed")
        .containsPattern(
            Pattern.compile("served by model: llama-3.1-8b \\d+, llama-3.1-8b-canary \\d+"));
    assertThat(folder).isDirectoryContaining("glob:**/models.yaml");
  }

  @Test
  void aFolderThatCanNotRunIsRefusedWithFileFieldAndReason(@TempDir Path folder)
      throws IOException {
    Files.writeString(
        folder.resolve("pool.yaml"),
        """
        apiVersion: inference.networking.k8s.io/v1
        kind: InferencePool
        metadata: {name: demo}
        spec:
          selector: {matchLabels: {app: a}}
          targetPorts: [{number: 0}]
        """);

    Run run = demo("--once", "--port", "0", "--folder", folder.toString());

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.failure()).contains("pool.yaml").contains("spec.targetPorts[0].number");
  }

  private static Run demo(String... arguments) {
    var out = new ByteArrayOutputStream();
    var failure = new StringBuilder();
    PrintStream before = System.out;
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    try {
      int exitCode =
          new CommandLine(new DemoCommand())
              .setExecutionExceptionHandler(
                  (thrown, command, parsed) -> {
                    failure.append(thrown.getMessage());
                    return CommandLine.ExitCode.SOFTWARE;
                  })
              .execute(arguments);
      return new Run(exitCode, out.toString(StandardCharsets.UTF_8), failure.toString());
    } finally {
      System.setOut(before);
    }
  }

  private record Run(int exitCode, String output, String failure) {}
}
