package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.testing.Chart;
import io.fairlead.operator.testing.Kustomization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The charts over their lives on an API server. */
class ChartUpgradeIT {
  private static final String KIND = "endpointpickers.fairlead.io";

  @TempDir Path folder;

  @Test
  void anUpgradeBringsTheKindsFieldsAndNoUninstallTakesPickers() throws IOException {
    Path older = olderKind();
    try (KubeApi.Running server = KubeApi.Running.start()) {
      Path kubeconfig = Files.writeString(folder.resolve("kubeconfig"), server.kubeConfig());
      KubernetesClient client = server.client();
      helm(kubeconfig, "install", "crds", older.toString(), "--create-namespace");
      assertThat(columns(client)).doesNotContain("Models");

      helm(kubeconfig, "upgrade", "crds", "charts/fairlead-crds");
      assertThat(columns(client)).contains("Models");
      Crds.awaitServed(
          client, client.resources(CustomResourceDefinition.class).withName(KIND).require());

      Kustomization.apply(
          client,
          """
          apiVersion: fairlead.io/v1alpha1
          kind: EndpointPicker
          metadata: {name: kept, namespace: default}
          spec: {poolRef: {name: pool}}
          """);
      assertThat(helm(kubeconfig, "install", "one", "charts/fairlead"))
          .as("its notes tell what is missing, and nothing else")
          .contains("The operator serves the pools of all namespaces")
          .contains("kubectl create -k config/upstream-crd")
          .doesNotContain("fairlead-crds");
      assertThatThrownBy(() -> helm(kubeconfig, "install", "two", "charts/fairlead"))
          .as("a second operator for the whole cluster")
          .hasMessageContaining("fairlead-operator")
          .hasMessageContaining("exists");
      helm(kubeconfig, "uninstall", "one");
      helm(kubeconfig, "uninstall", "crds");
      assertThat(
              client.resources(EndpointPicker.class).inNamespace("default").withName("kept").get())
          .isNotNull();

      helm(kubeconfig, "install", "crds", "charts/fairlead-crds");
      assertThat(client.resources(ClusterRole.class).withName("fairlead-epp").get()).isNotNull();
    }
  }

  @Test
  void theNotesTellThatTheKindIsMissing() throws IOException {
    try (KubeApi.Running server = KubeApi.Running.start()) {
      Path kubeconfig = Files.writeString(folder.resolve("kubeconfig"), server.kubeConfig());
      assertThat(
              helm(
                  kubeconfig,
                  "install",
                  "one",
                  "charts/fairlead",
                  "--create-namespace",
                  "--set=scope=namespace"))
          .contains("The operator serves the pools of the namespace fairlead-system")
          .contains("install the chart fairlead-crds");
    }
  }

  @Test
  void anInstallOfKustomizesBecomesHelms() throws IOException {
    try (KubeApi.Running server = KubeApi.Running.start()) {
      Path kubeconfig = Files.writeString(folder.resolve("kubeconfig"), server.kubeConfig());
      Kustomization.kubectl(kubeconfig, "kubectl apply -k config/default");
      String before = operatorsPods(server.client());

      helm(kubeconfig, "install", "crds", "charts/fairlead-crds", "--take-ownership");
      helm(kubeconfig, "install", "fairlead", "charts/fairlead", "--take-ownership");

      assertThat(operatorsPods(server.client())).as("nothing is replaced").isEqualTo(before);
      Path values = Path.of("operator/src/test/resources/charts/every-value.yaml");
      Kustomization.kubectl(kubeconfig, "kubectl create namespace one");
      helm(
          kubeconfig,
          "upgrade",
          "fairlead",
          "charts/fairlead",
          "--values=" + values,
          "--set=monitoring.podMonitors.enabled=false,monitoring.prometheusRule.enabled=false");
      assertThat(operatorsPods(server.client())).isNotEqualTo(before);
    }
  }

  /** As tools do that apply on the server's side: what it set by default nobody takes back. */
  @Test
  void anOperatorThatElectsNoLeaderAnyMoreCanBeAppliedOnTheServersSide() throws IOException {
    try (KubeApi.Running server = KubeApi.Running.start()) {
      Path kubeconfig = Files.writeString(folder.resolve("kubeconfig"), server.kubeConfig());
      for (String elect : List.of("true", "false", "true")) {
        Path file =
            Files.writeString(
                folder.resolve("operator.yaml"),
                Chart.render(
                    "fairlead",
                    "default",
                    "--show-only=templates/deployment.yaml",
                    "--set=operator.leaderElect=" + elect));
        Kustomization.kubectl(
            kubeconfig, "kubectl apply --server-side --namespace=default -f " + file);
        assertThat(
                server
                    .client()
                    .apps()
                    .deployments()
                    .inNamespace("default")
                    .withName("fairlead-operator")
                    .require()
                    .getSpec()
                    .getStrategy()
                    .getType())
            .isEqualTo(elect.equals("true") ? "RollingUpdate" : "Recreate");
      }
    }
  }

  private static String operatorsPods(KubernetesClient client) {
    return client
        .apps()
        .deployments()
        .inNamespace("fairlead-system")
        .withName("fairlead-operator")
        .require()
        .getSpec()
        .getTemplate()
        .toString();
  }

  private static List<String> columns(KubernetesClient client) {
    return client
        .resources(CustomResourceDefinition.class)
        .withName(KIND)
        .require()
        .getSpec()
        .getVersions()
        .getFirst()
        .getAdditionalPrinterColumns()
        .stream()
        .map(column -> Objects.requireNonNull(column.getName()))
        .toList();
  }

  /** The chart as it might have been once: the kind lacked a column. */
  private Path olderKind() throws IOException {
    Path source = Path.of("..", "charts", "fairlead-crds");
    Path copy = folder.resolve("fairlead-crds");
    try (Stream<Path> files = Files.walk(source)) {
      for (Path file : files.toList()) {
        Path target = copy.resolve(source.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(target);
        } else {
          Files.copy(file, target);
        }
      }
    }
    Path kind = copy.resolve("files").resolve("endpointpickers.yaml");
    Files.writeString(kind, Files.readString(kind).replace("name: Models", "name: Formerly"));
    return copy.toAbsolutePath();
  }

  private static String helm(Path kubeconfig, String... words) {
    List<String> arguments = new ArrayList<>(List.of(words));
    arguments.add("--namespace=fairlead-system");
    arguments.add("--kubeconfig=" + kubeconfig.toAbsolutePath());
    return Chart.helm(arguments);
  }
}
