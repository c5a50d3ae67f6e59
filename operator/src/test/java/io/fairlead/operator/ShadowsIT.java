package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.testing.TestPods;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.FailingPlugin;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.Picker;
import io.fairlead.operator.testing.PoolFixture;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Shadows from the EndpointPicker to the picker that runs them, and back to its conditions. */
@ExtendWith(KubeApi.class)
@Makes(Reason.SHADOW_SWITCHED_OFF)
class ShadowsIT {

  private static Installed cluster;

  @BeforeAll
  static void install(KubeApi.Running server) {
    cluster = Installed.on(server);
  }

  @Test
  void aShadowThatFailsIsToldAndAnEditEndsThat() {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("shadows"));
    try (OperatorUnderTest _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.create(
          """
          apiVersion: inference.networking.k8s.io/v1
          kind: InferencePool
          metadata: {name: pool}
          spec:
            selector: {matchLabels: {app: vllm}}
            targetPorts: [{number: 1}]
            endpointPickerRef: {name: picker-service, port: {number: 9002}}
          """);
      pool.create(
          """
          apiVersion: fairlead.io/v1alpha1
          kind: EndpointPicker
          metadata: {name: mine}
          spec:
            poolRef: {name: pool}
            pluginTypes: [%1$s]
            shadows:
            - name: good
              scheduling: {schedulingProfiles: [{name: weighted}]}
            - name: broken
              scheduling: {plugins: [{type: %1$s}, {type: queue-scorer}]}
          """
              .formatted(FailingPlugin.TYPE));
      Pod made =
          cluster
              .admin()
              .resource(
                  new PodBuilder(TestPods.named("server", pool.namespace(), Map.of("app", "vllm")))
                      .build())
              .create();
      cluster.admin().resource(made).editStatus(pod -> TestPods.running(pod, "127.0.0.1", true, 0));
      pool.awaitPool("Ready", "False/RolloutInProgress");
      pool.becomeAvailable();
      try (Picker _ = new Picker(cluster, pool)) {
        pool.awaitPool("ShadowsRunning", "False/ShadowSwitchedOff");
        assertThat(pool.poolMessage("ShadowsRunning"))
            .startsWith("Shadow broken of pod " + PoolFixture.POD + " is switched off: ")
            .contains("no endpoint is good enough")
            .contains("correct spec.shadows of the EndpointPicker");
        pool.awaitPool("Programmed", "True/Programmed");

        cluster
            .admin()
            .resources(EndpointPicker.class)
            .inNamespace(pool.namespace())
            .withName("mine")
            .patch(
                PatchContext.of(PatchType.JSON_MERGE),
                "{\"spec\":{\"shadows\":[{\"name\":\"good\",\"scheduling\":{}}]}}");
        await().until(() -> !pool.poolConditions().containsKey("ShadowsRunning"));
        pool.awaitPool("Programmed", "True/Programmed");
      }
    }
  }
}
