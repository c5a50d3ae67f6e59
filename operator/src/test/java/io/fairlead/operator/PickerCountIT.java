package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Picker;
import io.fairlead.operator.testing.PoolFixture;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Pickers count each other by the Services that the operator makes for them. */
@ExtendWith(KubeApi.class)
class PickerCountIT {

  private static final String SERVICE = "picker-service";

  @Test
  void aPickerCountsThoseBehindItsServiceWhateverThatIsCalled(KubeApi.Running server) {
    Installed cluster = Installed.on(server);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("count"));
    try (OperatorUnderTest _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.createPicker("mine", "{name: pool}");
      pool.createPool(PoolFixture.POOL, SERVICE);
      pool.createPool("other", "other-service");
      pool.createPicker("theirs", "{name: other}");
      pool.awaitPool("Ready", "False/RolloutInProgress");
      pool.becomeAvailable();
      await().until(() -> pool.get(Service.class, "other-service") != null);
      try (Picker picker = new Picker(cluster, pool)) {
        slice(cluster, pool, "other-service", "x", "y", "z");
        slice(cluster, pool, SERVICE, "a", "b");
        awaitReplicas(picker, 2);

        cluster
            .admin()
            .resource(pool.need(InferencePool.class, PoolFixture.POOL))
            .patch(
                PatchContext.of(PatchType.JSON_MERGE),
                "{\"spec\":{\"endpointPickerRef\":{\"name\":\"renamed\"}}}");
        await().until(() -> pool.get(Service.class, "renamed") != null);
        slice(cluster, pool, "renamed", "a", "b", "c");
        awaitReplicas(picker, 3);
      }
    }
  }

  private static void awaitReplicas(Picker picker, int replicas) {
    await()
        .untilAsserted(
            () -> assertThat(picker.status()).contains("\"replicas\":" + replicas + ","));
  }

  /** What the control plane makes of a Service with ready pods: its labels, and its name as one. */
  private static void slice(Installed cluster, PoolFixture pool, String service, String... pods) {
    List<Endpoint> endpoints =
        Stream.of(pods)
            .map(
                pod ->
                    new EndpointBuilder()
                        .withAddresses("10.0.0.1")
                        .withNewConditions(true, true, false)
                        .withNewTargetRef()
                        .withKind("Pod")
                        .withName(pod)
                        .endTargetRef()
                        .build())
            .toList();
    cluster
        .admin()
        .resource(
            new EndpointSliceBuilder()
                .withNewMetadata()
                .withName(service + "-slice")
                .withNamespace(pool.namespace())
                .withLabels(pool.need(Service.class, service).getMetadata().getLabels())
                .addToLabels("kubernetes.io/service-name", service)
                .endMetadata()
                .withAddressType("IPv4")
                .withEndpoints(endpoints)
                .build())
        .create();
  }
}
