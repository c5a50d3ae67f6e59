package io.fairlead.e2e;

import io.fairlead.e2e.cluster.Checkout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** kubectl as a user has it: commands in, text out. */
final class Kubectl {

  private final Path folder;
  private final Path kubeconfig;

  /** A kubectl for the cluster of this kubeconfig, run at the top of the checkout. */
  Kubectl(Checkout checkout, String kubeconfig) {
    this.folder = checkout.root();
    try {
      this.kubeconfig = Files.createTempFile("e2e-", ".kubeconfig");
      Files.writeString(this.kubeconfig, kubeconfig);
      this.kubeconfig.toFile().deleteOnExit();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Runs it and returns what it printed.
   *
   * @throws IllegalStateException with what it said if it fails
   */
  String run(String... arguments) {
    List<String> line = new ArrayList<>(List.of("kubectl", "--kubeconfig", kubeconfig.toString()));
    line.addAll(List.of(arguments));
    try {
      Process process =
          new ProcessBuilder(line)
              .directory(folder.toFile())
              .redirectInput(Path.of("/dev/null").toFile())
              .redirectErrorStream(true)
              .start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new IllegalStateException(
            "kubectl " + String.join(" ", arguments) + " failed: " + output);
      }
      return output;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted in kubectl", e);
    }
  }
}
