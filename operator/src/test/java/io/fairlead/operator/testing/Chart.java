package io.fairlead.operator.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** {@code helm}, and folders of {@code charts} as it renders them. */
public final class Chart {
  private static final String PROGRAM = "fairlead.helm";

  /** Helm keeps its own files here, and reads none of whoever runs the tests. */
  private static final Path HOME = Path.of("target", "helm").toAbsolutePath();

  private Chart() {}

  /**
   * What {@code helm template} prints of a chart for a namespace.
   *
   * @param options more of them, such as {@code --set=scope=namespace}
   * @throws IllegalStateException with what it said if it fails
   */
  public static String render(String chart, String namespace, String... options) {
    List<String> words =
        new ArrayList<>(List.of("template", "test", "charts/" + chart, "--namespace", namespace));
    words.addAll(List.of(options));
    return helm(words);
  }

  /**
   * Runs Helm at the top of the checkout, and returns what it printed.
   *
   * @throws IllegalStateException with what it said if it fails
   */
  public static String helm(List<String> arguments) {
    String program = System.getProperty(PROGRAM, "");
    if (program.isEmpty()) {
      throw new IllegalStateException(
          "system property "
              + PROGRAM
              + " is not set; run ./hack/test it, which brings Helm and sets it");
    }
    List<String> words = new ArrayList<>(List.of(program));
    words.addAll(arguments);
    try {
      ProcessBuilder builder = new ProcessBuilder(words);
      builder.directory(Path.of("..").toFile()).redirectErrorStream(true);
      builder.environment().keySet().removeIf(name -> name.startsWith("HELM_"));
      builder.environment().put("HELM_CACHE_HOME", HOME.resolve("cache").toString());
      builder.environment().put("HELM_CONFIG_HOME", HOME.resolve("config").toString());
      builder.environment().put("HELM_DATA_HOME", HOME.resolve("data").toString());
      Process process = builder.start();
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new IllegalStateException(String.join(" ", words) + " failed: " + output);
      }
      return output;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted in helm", e);
    }
  }
}
