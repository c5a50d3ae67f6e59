package io.fairlead.operator.testing;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** {@code kubectl}, and folders of {@code config} as it renders them. */
public final class Kustomization {
  /** Overlays refer to folders of {@code config} from here: Kustomize knows relative paths only. */
  private static final Path OVERLAYS = Path.of("target", "overlays");

  private Kustomization() {}

  /** What {@code kubectl kustomize config/FOLDER} prints. */
  public static String render(String folder) {
    return kustomize(Path.of("..", "config", folder));
  }

  /**
   * What comes of an overlay of one's own, with a copy of {@code config/images} beside it.
   *
   * @param yaml its {@code kustomization.yaml}; {@code CONFIG} in it becomes the path of {@code
   *     config}
   */
  public static String renderOverlay(String yaml) {
    return renderOverlay(yaml, UnaryOperator.identity());
  }

  /**
   * The same.
   *
   * @param edit of the copied {@code images/kustomization.yaml}
   */
  public static String renderOverlay(String yaml, UnaryOperator<String> edit) {
    try {
      Files.createDirectories(OVERLAYS);
      Path folder = Files.createTempDirectory(OVERLAYS, "overlay-");
      Files.writeString(
          folder.resolve("kustomization.yaml"),
          "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
              + yaml.replace("CONFIG", "../../../../config"));
      Path images = Files.createDirectory(folder.resolve("images"));
      for (String file : List.of("kustomization.yaml", "environment.yaml")) {
        Files.copy(Path.of("..", "config", "images", file), images.resolve(file));
      }
      Path list = images.resolve("kustomization.yaml");
      Files.writeString(list, edit.apply(Files.readString(list)));
      return kustomize(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The objects of a render. */
  public static List<HasMetadata> objects(KubernetesClient client, String rendered) {
    return client.load(new ByteArrayInputStream(rendered.getBytes(StandardCharsets.UTF_8))).items();
  }

  /** Has the API server take all of it, or throws what it said. */
  public static void apply(KubernetesClient client, String rendered) {
    client
        .load(new ByteArrayInputStream(rendered.getBytes(StandardCharsets.UTF_8)))
        .serverSideApply();
  }

  /**
   * Runs a command line of kubectl at the top of the checkout, and returns what it printed.
   *
   * @param command begins with {@code kubectl}; its words have no spaces and quotes
   * @throws IllegalStateException with what it said if it fails
   */
  public static String kubectl(Path kubeconfig, String command) {
    List<String> words = new ArrayList<>(List.of(command.split(" +", -1)));
    words.set(0, kubectl());
    words.add("--kubeconfig=" + kubeconfig.toAbsolutePath());
    return run(Path.of(".."), words);
  }

  /**
   * Runs a line of a shell in which {@code kubectl} speaks to this API server, and returns what it
   * printed.
   *
   * @param namespace of objects for which the line names none
   * @throws IllegalStateException with what it said if it fails
   */
  public static String shell(Path kubeconfig, String namespace, String line) {
    String function =
        "kubectl() { '%s' --kubeconfig='%s' --namespace='%s' \"$@\"; }; "
            .formatted(kubectl(), kubeconfig.toAbsolutePath(), namespace);
    return run(Path.of(".."), List.of("bash", "-c", "set -o pipefail; " + function + line));
  }

  private static String kustomize(Path folder) {
    return run(Path.of("."), List.of(kubectl(), "kustomize", folder.toString()));
  }

  private static String run(Path folder, List<String> words) {
    try {
      Process process =
          new ProcessBuilder(words).directory(folder.toFile()).redirectErrorStream(true).start();
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
      throw new IllegalStateException("interrupted in kubectl", e);
    }
  }

  /** Beside the API server that tests run on. */
  private static String kubectl() {
    Path versions = Path.of(System.getProperty("fairlead.kubeapi.dir", "")).resolve("k8s");
    try (Stream<Path> found = Files.list(versions)) {
      return found
          .map(version -> version.resolve("kubectl"))
          .filter(Files::exists)
          .findFirst()
          .map(Path::toString)
          .orElseThrow(() -> new IllegalStateException("there is no kubectl in " + versions));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
