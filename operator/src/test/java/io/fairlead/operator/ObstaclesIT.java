package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.PICKER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.Picker;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What keeps requests from being served is told with a next step, and all of it at once. */
@ExtendWith(KubeApi.class)
@Makes(Reason.INVALID_SPEC)
class ObstaclesIT {
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);
  private static final String ONLY_THE_PICKER_KNOWS =
      "{\"plugins\":[{\"type\":\"queue-scorer\"}],\"schedulingProfiles\":[{\"name\":\"a\"},{\"name\":\"b\"}]}";

  private static Installed cluster;

  private PoolFixture pool;
  private OperatorUnderTest operator;

  @BeforeAll
  static void install(KubeApi.Running server) {
    cluster = Installed.on(server);
  }

  @BeforeEach
  void start() {
    pool = new PoolFixture(cluster.admin(), cluster.namespace("obstacles"));
    operator = new OperatorUnderTest(cluster, pool, true);
  }

  @AfterEach
  void stop() {
    operator.close();
  }

  @Test
  void aForeignAccountAndAScaleOfZeroAreToldTogether() {
    pool.create("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: pool-epp}\n");
    pool.createPicker("mine", "{name: pool}");
    patchPicker("{\"spec\":{\"replicas\":0}}");
    pool.createPool();
    awaitPoolMessage("Ready", "ServiceAccount " + pool.namespace() + "/pool-epp is not ours");
    awaitPoolMessage("Ready", "scaled to 0; set spec.replicas");
    assertThat(pool.poolMessage("Ready")).doesNotContain("wait for it");
  }

  @Test
  void aServiceThatIsNotThereIsNotCalledProvided() {
    pool.create(
        """
        apiVersion: inference.networking.k8s.io/v1
        kind: InferencePool
        metadata: {name: pool}
        spec:
          selector: {matchLabels: {"no key": vllm}}
          targetPorts: [{number: 8000}]
          endpointPickerRef: {name: picker-service, port: {number: 9002}}
        """);
    pool.awaitPool("Accepted", "False/InvalidSpec");
    pool.awaitPool("ResolvedRefs", "Unknown/Pending");
    assertThat(pool.poolMessage("ResolvedRefs")).contains("picker-service", "condition Accepted");
    assertThat(pool.get(Service.class, "picker-service")).isNull();

    cluster
        .admin()
        .resource(pool.need(InferencePool.class, PoolFixture.POOL))
        .patch(
            MERGE,
            "{\"spec\":{\"selector\":{\"matchLabels\":{\"no key\":null,\"app\":\"vllm\"}}}}");
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
    await().until(() -> pool.get(Service.class, "picker-service") != null);
  }

  @Test
  void aPickerWithoutModelServersIsNotSaidToServe() {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.awaitPool("Ready", "False/RolloutInProgress");
    pool.becomeAvailable();
    try (Picker _ = new Picker(cluster, pool)) {
      pool.awaitModel("chat", "Ready", "False/NoMatchingPods");
      awaitPoolMessage("Ready", PICKER + " runs, but has no endpoint");

      patchPicker("{\"spec\":{\"scheduling\":" + ONLY_THE_PICKER_KNOWS + "}}");
      pool.createModel("sum", "sum", 10);
      pool.awaitModel("sum", "Ready", "False/ConfigRejected");
      await()
          .atMost(Duration.ofSeconds(15))
          .untilAsserted(
              () ->
                  assertThat(pool.modelMessage("sum", "Ready"))
                      .contains("scheduling.schedulingProfiles", "start model servers"));
    }
  }

  private void awaitPoolMessage(String type, String part) {
    await()
        .atMost(Duration.ofSeconds(15))
        .untilAsserted(() -> assertThat(pool.poolMessage(type)).contains(part));
  }

  private void patchPicker(String merge) {
    cluster.admin().resource(pool.need(EndpointPicker.class, "mine")).patch(MERGE, merge);
  }
}
