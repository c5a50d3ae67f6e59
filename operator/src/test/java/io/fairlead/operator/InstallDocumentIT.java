package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.testing.Chart;
import io.fairlead.operator.testing.Kustomization;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The commands of {@code docs/install.md}, one after the other: those of Kustomize on one API
 * server, those of Helm on another, since both are ways to install the same objects.
 */
class InstallDocumentIT {
  private static final Path DOCUMENT = Path.of("..", "docs", "install.md");

  @TempDir Path folder;

  @Test
  void everyCommandWorksAndWhatIsUpstreamsStays() throws IOException {
    try (KubeApi.Running server = KubeApi.Running.start()) {
      Path kubeconfig = Files.writeString(folder.resolve("kubeconfig"), server.kubeConfig());
      List<String> commands = commands(false);
      assertThat(commands).hasSizeGreaterThan(15).allMatch(line -> line.startsWith("kubectl "));
      for (String command : commands) {
        boolean removes = command.startsWith("kubectl delete ");
        if (command.contains("delete -k config/default")) {
          createPoolOfAnother(server.client());
        }
        if (command.startsWith("kubectl explain ")) {
          // A server explains kinds some time after it has taken them: a thread of its own renews
          // the groups' documents, and another the index in which kubectl looks for the group.
          await()
              .atMost(Duration.ofMinutes(1))
              .until(() -> explains(server.client(), "endpointpickers"));
        }
        if (command.startsWith("kubectl auth can-i")) {
          awaitYes(kubeconfig, command);
          continue;
        }
        // Nobody here empties a namespace that is being deleted.
        var _ = Kustomization.kubectl(kubeconfig, command + (removes ? " --wait=false" : ""));
      }
      await()
          .atMost(Duration.ofMinutes(1))
          .until(
              () ->
                  server
                          .client()
                          .apiextensions()
                          .v1()
                          .customResourceDefinitions()
                          .withName("endpointpickers.fairlead.io")
                          .get()
                      == null);
      assertThat(server.client().rbac().clusterRoles().list().getItems())
          .noneMatch(role -> role.getMetadata().getName().startsWith("fairlead"));
      assertThat(
              server
                  .client()
                  .resources(InferencePool.class)
                  .inNamespace("default")
                  .withName("another")
                  .get())
          .as("a pool outlives the operator")
          .isNotNull();
    }
  }

  private static boolean explains(KubernetesClient client, String plural) {
    String group = "apis/fairlead.io/v1alpha1";
    String index = client.raw("/openapi/v3");
    String kinds = client.raw("/openapi/v3/" + group);
    return index != null
        && index.contains("\"" + group + "\"")
        && kinds != null
        && kinds.contains("/" + plural);
  }

  @Test
  void everyCommandOfHelmsWorksAndTheKindsStay() throws IOException {
    try (KubeApi.Running server = KubeApi.Running.start()) {
      Path kubeconfig = Files.writeString(folder.resolve("kubeconfig"), server.kubeConfig());
      List<String> commands = commands(true);
      assertThat(commands).hasSizeGreaterThan(10);
      for (String command : commands) {
        if (command.startsWith("helm uninstall fairlead ") && command.contains("fairlead-system")) {
          createPoolOfAnother(server.client());
        }
        if (command.startsWith("kubectl auth can-i")) {
          awaitYes(kubeconfig, command);
        } else {
          run(kubeconfig, command);
        }
      }
      assertThat(server.client().apiextensions().v1().customResourceDefinitions().list().getItems())
          .extracting(kind -> kind.getMetadata().getName())
          .contains(
              "endpointpickers.fairlead.io",
              "inferencemodels.inference.networking.x-k8s.io",
              "inferencepools.inference.networking.k8s.io");
      assertThat(server.client().rbac().clusterRoles().list().getItems())
          .noneMatch(role -> role.getMetadata().getName().startsWith("fairlead"));
      assertThat(
              server
                  .client()
                  .resources(InferencePool.class)
                  .inNamespace("default")
                  .withName("another")
                  .get())
          .as("a pool outlives the operator")
          .isNotNull();
    }
  }

  /** Rights take effect a moment after they are granted. */
  private static void awaitYes(Path kubeconfig, String command) {
    await()
        .atMost(Duration.ofMinutes(1))
        .ignoreException(IllegalStateException.class) // kubectl fails where it says no
        .until(() -> Kustomization.kubectl(kubeconfig, command).contains("yes"));
  }

  private static void run(Path kubeconfig, String command) {
    if (command.startsWith("kubectl ")) {
      var _ = Kustomization.kubectl(kubeconfig, command);
      return;
    }
    List<String> words = new ArrayList<>(List.of(command.split(" +", -1)));
    assertThat(words.removeFirst()).isEqualTo("helm");
    words.add("--kubeconfig=" + kubeconfig.toAbsolutePath());
    var _ = Chart.helm(words);
  }

  private static void createPoolOfAnother(KubernetesClient client) {
    client
        .load(
            new ByteArrayInputStream(
                """
                apiVersion: inference.networking.k8s.io/v1
                kind: InferencePool
                metadata: {name: another, namespace: default}
                spec:
                  selector: {matchLabels: {app: vllm}}
                  targetPorts: [{number: 8000}]
                  endpointPickerRef: {name: theirs, port: {number: 9002}}
                """
                    .getBytes(StandardCharsets.UTF_8)))
        .create();
  }

  private static List<String> commands(boolean ofHelm) throws IOException {
    List<String> commands = new ArrayList<>();
    boolean inBlock = false;
    boolean helm = false;
    for (String line : Files.readAllLines(DOCUMENT)) {
      if (line.startsWith("## ")) {
        helm = line.equals("## With Helm");
      } else if (line.startsWith("```")) {
        inBlock = line.equals("```sh");
      } else if (inBlock && helm == ofHelm) {
        commands.add(line);
      }
    }
    return commands;
  }
}
