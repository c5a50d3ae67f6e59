package io.fairlead.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
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
        // How many are rejected is a matter of how fast this machine is.
        .containsPattern(
            "150 requests sent: [1-9]\\d* succeeded, \\d+ rejected \\(429\\), 0 failed")
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

  /** What its user put there is in the way: the folder stays, and the program ends all the same. */
  @Test
  void aFolderThatCanNotBeDeletedIsNamedAndKeepsNothingBack(@TempDir Path temporary)
      throws Exception {
    Path out = temporary.resolve("out");
    Process process =
        start(
            temporary,
            out,
            Redirect.appendTo(out.toFile()),
            "--once",
            "--port=0",
            "--rate=20", // for so long that its folder is seen here before it ends
            "--time-scale=0.02");
    try {
      Path samples =
          await().atMost(Duration.ofSeconds(60)).until(() -> folder(temporary), Objects::nonNull);
      Files.createDirectories(samples.resolve("notes/of-mine"));
      assertThat(process.waitFor(120, TimeUnit.SECONDS)).as("ends").isTrue();
      assertThat(process.exitValue()).as(Files.readString(out)).isZero();
      assertThat(Files.readString(out))
          .contains("0 failed")
          .contains("demo: " + samples + " stays: ");
      assertThat(samples.resolve("notes/of-mine")).isDirectory();
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void whoReadsItNoMoreEndsIt(@TempDir Path temporary) throws Exception {
    Process process =
        start(
            temporary,
            temporary.resolve("log"),
            Redirect.PIPE,
            "--port=0",
            "--rate=60",
            "--time-scale=0.02");
    try {
      try (var lines = process.inputReader()) {
        assertThat(lines.lines().anyMatch(line -> line.startsWith("Fairlead runs: "))).isTrue();
      }
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("ends").isTrue();
      assertThat(folder(temporary)).as("left behind").isNull();
    } finally {
      process.destroyForcibly();
    }
  }

  /** In a process of its own, which ends as the user's does. */
  private static Process start(Path temporary, Path err, Redirect out, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Djava.io.tmpdir=" + temporary);
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), "io.fairlead.cli.Fairlead", "demo"));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .redirectError(Redirect.appendTo(err.toFile()))
        .redirectOutput(out)
        .start();
  }

  /** The demo's own, once all samples are there. */
  private static @Nullable Path folder(Path temporary) throws IOException {
    try (Stream<Path> files = Files.list(temporary)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("fairlead-demo-"))
          .filter(file -> Files.exists(file.resolve("endpoints.yaml")))
          .findFirst()
          .orElse(null);
    }
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
