package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** {@code fairlead status}, in a process of its own, on a real API server. */
@ExtendWith(KubeApi.class)
class StatusIT {
  @TempDir private Path folder;

  @Test
  void asksTheClusterOfTheKubeconfig(KubeApi.Running server)
      throws IOException, InterruptedException {
    Crds.apply(server.client());
    pool(server, "chat");
    // Other tests may have left pools of longer names.
    assertThat(run(server, "status"))
        .containsPattern("(?m)^chat +- ")
        .contains("NotServedByFairlead");
    picked(server, "chat", "\"False\",\"reason\":\"NoReadyReplicas\"");
    assertThat(run(server, "status", "-A"))
        .containsPattern("NAMESPACE +POOL +READY")
        .containsPattern("(?m)^default +chat +False .*NoReadyReplicas");
    assertThat(run(server, "status", "-n", "kube-system"))
        .contains("There is no InferencePool")
        .as("that our own kinds are alpha is no news")
        .doesNotContain("unstable version");
  }

  @Test
  void poolsOfTheOlderGroupAreAmongThem(KubeApi.Running server)
      throws IOException, InterruptedException {
    Crds.apply(server.client());
    Crds.oldPools(server.client());
    create(
        server,
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferencePool
        metadata: {name: older, namespace: default}
        spec: {selector: {app: vllm}, targetPortNumber: 8000, extensionRef: {name: e}}
        """);
    assertThat(run(server, "status", "-n", "default"))
        .containsPattern("(?m)^older +- .*NotServedByFairlead");
  }

  /** That none may be listed is no news of whether there is one. */
  @Test
  void whatMayNotBeListedIsSaidToBeRefused(KubeApi.Running server)
      throws IOException, InterruptedException {
    Crds.apply(server.client());
    Said pools = say(server, "nobody", "status", "-n", "default");
    assertThat(pools.exitCode()).as(pools.text()).isEqualTo(1);
    assertThat(pools.text())
        .startsWith("status: InferencePools may not be listed: ")
        .contains("User \"nobody\"")
        .doesNotContain("There is no");

    pool(server, "seen");
    create(
        server,
        """
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata: {name: pools, namespace: default}
        rules: [{apiGroups: [inference.networking.k8s.io], resources: [inferencepools], verbs: [list]}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: pools, namespace: default}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: pools}
        subjects: [{kind: User, name: somebody, apiGroup: rbac.authorization.k8s.io}]
        """);
    picked(server, "seen", "\"True\",\"reason\":\"Ready\"");
    Said without = say(server, "somebody", "status", "-n", "default");
    assertThat(without.exitCode()).as(without.text()).isZero();
    assertThat(without.text())
        .contains("left out: InferenceModels may not be listed", "left out: EndpointPickers may")
        .as("how many models it has is not known")
        .containsPattern("(?m)^seen +True +- +- +seen-epp +Ready");
  }

  /** The cluster of another context would answer for it. */
  @Test
  void aContextThatIsNotThereIsNamedAndNoOtherAsked(KubeApi.Running server)
      throws IOException, InterruptedException {
    Crds.apply(server.client());
    Said said = say(server, "", "status", "--context", "nope");
    assertThat(said.exitCode()).as(said.text()).isEqualTo(1);
    assertThat(said.text())
        .startsWith("status: --context: nope is not in the kubeconfig, which has ");
  }

  @Test
  void whereNoClusterIsKnownNoneIsAsked() throws IOException, InterruptedException {
    Path none = folder.resolve("none");
    Said said = say(none, "", "status");
    assertThat(said.exitCode()).as(said.text()).isEqualTo(1);
    assertThat(said.text())
        .isEqualTo(
            "status: no kubeconfig leads to a cluster: set KUBECONFIG to one, or give a FILE\n");

    Path broken = Files.writeString(folder.resolve("broken"), "clusters: [");
    assertThat(say(broken, "", "status").text())
        .startsWith("status: the kubeconfig can't be read: ")
        .doesNotContain("\tat ");

    Path away =
        Files.writeString(
            folder.resolve("away"),
            """
            apiVersion: v1
            kind: Config
            current-context: away
            contexts: [{name: away, context: {cluster: away, user: me}}]
            clusters: [{name: away, cluster: {server: "https://127.0.0.1:1"}}]
            users: [{name: me, user: {token: t}}]
            """);
    assertThat(say(away, "", "status").text())
        .isEqualTo(
            "status: the cluster at https://127.0.0.1:1/ does not answer; see kubectl cluster-info\n");
  }

  /** As jobs without a kubeconfig have it: an address, and a token and its authority beside it. */
  @Test
  void anAddressInTheEnvironmentIsACluster(KubeApi.Running server)
      throws IOException, InterruptedException {
    Crds.apply(server.client());
    pool(server, "by-address");
    Config config = server.client().getConfiguration();
    Map<String, String> environment = new HashMap<>();
    environment.put("KUBECONFIG", folder.resolve("none").toString());
    environment.put("KUBERNETES_MASTER", config.getMasterUrl());
    putIfThere(environment, "KUBERNETES_CERTS_CA_DATA", config.getCaCertData());
    putIfThere(environment, "KUBERNETES_CERTS_CA_FILE", config.getCaCertFile());
    putIfThere(environment, "KUBERNETES_AUTH_TOKEN", config.getAutoOAuthToken());
    Said said = say(environment, "status", "-A");
    assertThat(said.exitCode()).as(said.text()).isZero();
    assertThat(said.text()).containsPattern("(?m)^default +by-address ");
  }

  private static void putIfThere(
      Map<String, String> environment, String name, @Nullable String value) {
    if (value != null) {
      environment.put(name, value);
    }
  }

  private static void pool(KubeApi.Running server, String name) {
    create(
        server,
        """
        apiVersion: inference.networking.k8s.io/v1
        kind: InferencePool
        metadata: {name: %s, namespace: default}
        spec: {selector: {matchLabels: {app: vllm}}, targetPorts: [{number: 8000}], endpointPickerRef: {name: e, port: {number: 9002}}}
        """
            .formatted(name));
  }

  private static void create(KubeApi.Running server, String yaml) {
    server.client().load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8))).create();
  }

  /**
   * The operator's entry in a pool's status.
   *
   * @param ready status and reason of the condition Ready, as JSON
   */
  private static void picked(KubeApi.Running server, String pool, String ready) {
    server
        .client()
        .resources(InferencePool.class)
        .inNamespace("default")
        .withName(pool)
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"status":{"parents":[{"controllerName":"fairlead.io/operator","parentRef":{"name":"%s-epp"},"conditions":[
              {"type":"Ready","status":%s,"message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}]}]}}
            """
                .formatted(pool, ready));
  }

  /** All that a run of the program printed. */
  private record Said(int exitCode, String text) {}

  private String run(KubeApi.Running server, String... args)
      throws IOException, InterruptedException {
    Said said = say(server, "", args);
    assertThat(said.exitCode()).as(said.text()).isZero();
    return said.text();
  }

  private Said say(KubeApi.Running server, String user, String... args)
      throws IOException, InterruptedException {
    return say(Files.writeString(folder.resolve("kubeconfig"), server.kubeConfig()), user, args);
  }

  private Said say(Path kubeconfig, String user, String... args)
      throws IOException, InterruptedException {
    Map<String, String> environment = new HashMap<>();
    environment.put("KUBECONFIG", kubeconfig.toString());
    if (!user.isEmpty()) {
      environment.put("KUBERNETES_IMPERSONATE_USERNAME", user);
    }
    return say(environment, args);
  }

  private Said say(Map<String, String> environment, String... args)
      throws IOException, InterruptedException {
    Path out = folder.resolve("out");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Fairlead.class.getName()));
    command.addAll(List.of(args));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile());
    builder.environment().putAll(environment);
    Process process = builder.start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return new Said(process.exitValue(), Files.readString(out));
  }
}
