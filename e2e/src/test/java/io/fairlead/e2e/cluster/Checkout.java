package io.fairlead.e2e.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The checkout that the tests run from, and its commands.
 *
 * @param root its top folder
 */
public record Checkout(Path root) {

  /** Finds the checkout above the working folder. */
  public static Checkout find() {
    for (Path folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
      if (Files.isExecutable(folder.resolve("hack/cluster"))) {
        return new Checkout(folder);
      }
    }
    throw new IllegalStateException("no hack/cluster above " + Path.of("").toAbsolutePath());
  }

  /**
   * Runs a command of {@code hack/} and returns what it prints, without the last line break. What
   * it says on standard error goes to ours.
   *
   * @throws IllegalStateException if it fails
   */
  public String run(String command, String... arguments) {
    Result result = attempt(command, arguments);
    if (result.exitCode() != 0) {
      throw new IllegalStateException(
          "hack/" + command + " " + String.join(" ", arguments) + " failed: its message is above");
    }
    return result.output();
  }

  /** Runs a command of {@code hack/} that may fail. */
  Result attempt(String command, String... arguments) {
    List<String> line = new ArrayList<>();
    line.add(root.resolve("hack").resolve(command).toString());
    line.addAll(List.of(arguments));
    try {
      Process process =
          new ProcessBuilder(line)
              .directory(root.toFile())
              .redirectInput(Redirect.from(Path.of("/dev/null").toFile()))
              .redirectError(Redirect.INHERIT)
              .start();
      String output =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      return new Result(process.waitFor(), output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted in hack/" + command, e);
    }
  }

  /** How a command ended. */
  record Result(int exitCode, String output) {}
}
