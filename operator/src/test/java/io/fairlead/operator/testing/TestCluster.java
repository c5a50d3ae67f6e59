package io.fairlead.operator.testing;

import io.fabric8.kubeapitest.KubeAPIServer;
import io.fabric8.kubeapitest.KubeAPIServerConfigBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.awaitility.Awaitility;

/** An API server with our CRDs and roles, and no controller manager: the test plays that part. */
public final class TestCluster implements AutoCloseable {
  private static final Path ROOT = Path.of("..");

  private final KubeAPIServer server;
  private final KubernetesClient admin;

  public TestCluster() {
    String dir =
        Objects.requireNonNull(
            System.getProperty("fairlead.kubeapi.dir"),
            "set -Dfairlead.kubeapi.dir to a kube-api-test folder, as ./hack/test it does");
    server =
        new KubeAPIServer(
            KubeAPIServerConfigBuilder.anAPIServerConfig()
                .withTestDir(dir)
                .withApiServerVersion("1.35.4")
                .withOfflineMode(true)
                .withUpdateKubeConfig(false)
                .build());
    server.start();
    admin = new KubernetesClientBuilder().withConfig(config()).build();
    apply("crds/manifests/inferencepools.yaml");
    apply("crds/manifests/inferencemodels.yaml");
    apply("crds/manifests/endpointpickers.yaml");
    apply("config/operator/namespace.yaml");
    apply("config/rbac/epp-clusterrole.yaml");
    apply("config/rbac/operator-clusterrole.yaml");
    apply("config/rbac/operator-leaderelection.yaml");
    Awaitility.await()
        .until(
            () ->
                admin.apiextensions().v1().customResourceDefinitions().list().getItems().stream()
                    .filter(
                        crd ->
                            crd.getStatus().getConditions().stream()
                                .anyMatch(
                                    c ->
                                        c.getType().equals("Established")
                                            && c.getStatus().equals("True")))
                    .count(),
            established -> established == 3);
  }

  /** May do everything. */
  public KubernetesClient admin() {
    return admin;
  }

  /** May do what the operator's ServiceAccount may; the caller closes it. */
  public KubernetesClient operator() {
    Config config = config();
    config.setImpersonateUsername("system:serviceaccount:fairlead-system:fairlead-operator");
    config.setImpersonateGroups(
        "system:serviceaccounts", "system:serviceaccounts:fairlead-system", "system:authenticated");
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  /** The kubeconfig of {@link #admin}. */
  public String kubeconfig() {
    return server.getKubeConfigYaml();
  }

  /** A fresh namespace. */
  public String namespace(String prefix) {
    return admin
        .resource(
            new NamespaceBuilder()
                .withNewMetadata()
                .withGenerateName(prefix + "-")
                .endMetadata()
                .build())
        .create()
        .getMetadata()
        .getName();
  }

  /** Applies a file of the repository. */
  public List<HasMetadata> apply(String file) {
    try (InputStream in = Files.newInputStream(ROOT.resolve(file))) {
      return admin.load(in).serverSideApply();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    admin.close();
    server.stop();
  }

  private Config config() {
    return Config.fromKubeconfig(server.getKubeConfigYaml());
  }
}
