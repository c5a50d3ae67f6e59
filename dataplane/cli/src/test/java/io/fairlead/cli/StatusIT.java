package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.List;
import java.util.concurrent.TimeUnit;
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
    server
        .client()
        .load(
            new ByteArrayInputStream(
                """
                apiVersion: inference.networking.k8s.io/v1
                kind: InferencePool
                metadata: {name: chat, namespace: default}
                spec: {selector: {matchLabels: {app: vllm}}, targetPorts: [{number: 8000}], endpointPickerRef: {name: e, port: {number: 9002}}}
                """
                    .getBytes(StandardCharsets.UTF_8)))
        .create();
    // Other tests may have left pools of longer names.
    assertThat(run(server, "status"))
        .containsPattern("(?m)^chat +- ")
        .contains("NotServedByFairlead");
    server
        .client()
        .resources(InferencePool.class)
        .inNamespace("default")
        .withName("chat")
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"status":{"parents":[{"controllerName":"fairlead.io/operator","parentRef":{"name":"chat-epp"},"conditions":[
              {"type":"Ready","status":"False","reason":"NoReadyReplicas","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}]}]}}
            """);
    assertThat(run(server, "status", "-A"))
        .containsPattern("NAMESPACE +POOL +READY")
        .containsPattern("(?m)^default +chat +False .*NoReadyReplicas");
    assertThat(run(server, "status", "-n", "kube-system"))
        .contains("There is no InferencePool")
        .as("that our own kinds are alpha is no news")
        .doesNotContain("unstable version");
  }

  private String run(KubeApi.Running server, String... args)
      throws IOException, InterruptedException {
    Path kubeconfig = Files.writeString(folder.resolve("kubeconfig"), server.kubeConfig());
    Path out = folder.resolve("out");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Fairlead.class.getName()));
    command.addAll(List.of(args));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile());
    builder.environment().put("KUBECONFIG", kubeconfig.toString());
    Process process = builder.start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    String said = Files.readString(out);
    assertThat(process.exitValue()).as(said).isZero();
    return said;
  }
}
