package io.fairlead.epp;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.testing.TestPods;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A namespace of its own on a real API server, where a picker has no more rights than it needs. */
final class PickerNamespace {

  /** What its pods are called by, and the ConfigMap with its config. */
  static final String PICKER = "pool-epp";

  private static final Path ROLE = Path.of("../../config/cluster/epp-clusterrole.yaml");

  private final KubeApi.Running api;
  private final KubernetesClient admin;
  private final String name;

  /**
   * Makes one.
   *
   * @param prefix of its name
   */
  PickerNamespace(KubeApi.Running api, String prefix) throws IOException {
    this.api = api;
    admin = api.client();
    name =
        admin
            .resource(
                new NamespaceBuilder()
                    .withNewMetadata()
                    .withGenerateName(prefix + "-")
                    .endMetadata()
                    .build())
            .create()
            .getMetadata()
            .getName();
    try (var role = Files.newInputStream(ROLE)) {
      admin.load(role).serverSideApply();
    }
    admin
        .resource(
            new RoleBindingBuilder()
                .withNewMetadata()
                .withName("epp")
                .withNamespace(name)
                .endMetadata()
                .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", "fairlead-epp")
                .addNewSubject("", "ServiceAccount", "epp", name)
                .build())
        .create();
  }

  String name() {
    return name;
  }

  /** Who may do everything. */
  KubernetesClient admin() {
    return admin;
  }

  /** By which a picker asks the API server. */
  Config access() {
    Config config = Config.fromKubeconfig(api.kubeConfig());
    config.setImpersonateUsername("system:serviceaccount:" + name + ":epp");
    return config;
  }

  /** A picker's client. */
  KubernetesClient client() {
    return new KubernetesClientBuilder().withConfig(access()).build();
  }

  /** The client of a picker that may read everything. */
  KubernetesClient adminClient() {
    return new KubernetesClientBuilder()
        .withConfig(Config.fromKubeconfig(api.kubeConfig()))
        .build();
  }

  /** Writes the picker's config. */
  void configure(String document) {
    admin
        .resource(
            new ConfigMapBuilder()
                .withNewMetadata()
                .withName(PICKER)
                .withNamespace(name)
                .endMetadata()
                .addToData("config.yaml", document)
                .build())
        .serverSideApply();
  }

  /** Says how a pod is, as its kubelet does. */
  void running(String pod, String address, boolean ready, int restarts) {
    admin
        .pods()
        .inNamespace(name)
        .withName(pod)
        .editStatus(now -> TestPods.running(now, address, ready, restarts));
  }
}
