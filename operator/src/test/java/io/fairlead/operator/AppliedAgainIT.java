package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.testing.Chart;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Kustomization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What is applied again as it was: tools that compare what is there with what was applied would
 * else see a difference for ever. On an API server of its own, since kubectl becomes the owner of
 * fields that others apply.
 */
class AppliedAgainIT {
  private static KubeApi.Running server;

  @TempDir private Path folder;

  @BeforeAll
  static void startServer() {
    server = KubeApi.Running.start();
    Installed.on(server);
    for (String namespace : List.of("fairlead", "123")) {
      server
          .client()
          .resource(
              new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build())
          .create();
    }
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "with-gateway",
        "cluster",
        "namespaced",
        "metrics-auth",
        "network-policy-pickers",
        "admission"
      })
  void aFolderIsUnchanged(String name) throws IOException {
    assertUnchanged(Kustomization.render(name));
  }

  /** Of a namespace whose name looks like a number. */
  @ParameterizedTest
  @ValueSource(strings = {"cluster", "namespace"})
  void theChartIsUnchanged(String scope) throws IOException {
    assertUnchanged(
        Chart.render(
            "fairlead", "123", "--set=scope=" + scope, "--set=networkPolicies.pickers=true"));
  }

  private void assertUnchanged(String rendered) throws IOException {
    Path file = Files.writeString(folder.resolve("rendered.yaml"), rendered);
    Path config = Files.writeString(folder.resolve("kubeconfig"), server.kubeConfig());
    String command = "kubectl apply -f " + file.toAbsolutePath();
    String first = Kustomization.kubectl(config, command);
    assertThat(Kustomization.kubectl(config, command).lines())
        .as(first)
        .isNotEmpty()
        .allMatch(line -> line.endsWith(" unchanged"));
  }
}
