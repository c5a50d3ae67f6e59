package io.fairlead.epp;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.testing.Crds;
import io.fairlead.epp.Traffic.Answer;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A pool with an InferenceModelRewrite: requests for {@code chat} go out with another name. */
final class RewrittenPool {

  /** Of the rewrite. */
  static final String GROUP = "inference.networking.x-k8s.io";

  /** A watch that failed tries again at growing intervals. */
  private static final Duration SEEN = Duration.ofSeconds(90);

  private final KubernetesClient admin;
  private final String namespace;

  /**
   * Makes both, with {@code chat-v2} for the other name.
   *
   * @param port that its pods serve at
   */
  RewrittenPool(PickerNamespace own, int port) {
    admin = own.admin();
    namespace = own.name();
    Crds.apply(admin);
    Crds.upstream(admin, GROUP);
    String objects =
        """
        apiVersion: inference.networking.k8s.io/v1
        kind: InferencePool
        metadata: {name: pool, namespace: %s}
        spec:
          selector: {matchLabels: {app: vllm}}
          targetPorts: [{number: %d}]
          endpointPickerRef: {name: epp, port: {number: 9002}}
        ---
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferenceModelRewrite
        metadata: {name: split, namespace: %s}
        spec:
          poolRef: {name: pool}
          rules: [{matches: [{model: {value: chat}}], targets: [{modelRewrite: chat-v2}]}]
        """
            .formatted(namespace, port, namespace);
    admin.load(new ByteArrayInputStream(objects.getBytes(StandardCharsets.UTF_8))).create();
  }

  /** Has them go out with this name. */
  void retarget(String model) {
    admin
        .genericKubernetesResources(GROUP + "/v1alpha2", "InferenceModelRewrite")
        .inNamespace(namespace)
        .withName("split")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"spec": {"rules": [
              {"matches": [{"model": {"value": "chat"}}], "targets": [{"modelRewrite": "%s"}]}]}}
            """
                .formatted(model));
  }

  /** Waits until ten in a row go out with this name. Returns all answers until then. */
  static List<Answer> awaitServedBy(Traffic traffic, String model) {
    List<Answer> seen = new ArrayList<>();
    await()
        .atMost(SEEN)
        .until(
            () -> {
              List<Answer> now = traffic.next(10);
              seen.addAll(now);
              return now.stream().allMatch(answer -> answer.servedBy().equals(model));
            });
    return seen;
  }
}
