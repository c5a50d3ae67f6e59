package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.POOL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.ParentStatus;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A cluster with the InferencePool of upstream's v1.0, in whose entries no controller can be named,
 * on an API server of its own.
 */
class UnnamedEntriesIT {
  private static final Duration SEEN = Duration.ofSeconds(30);
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);
  private static final String GATEWAYS =
      """
      {"controllerName": "example.test/gateway", "parentRef": {"name": "gw"}, "conditions": []}""";

  /** What a release that knew its entries by their controllers only left behind. */
  private static final String LEFT =
      """
      {"parentRef": {"group": "fairlead.io", "kind": "EndpointPicker", "name": "pool-epp"},
       "conditions": [{"type": "Ready", "status": "True", "reason": "Ready", "message": "",
                       "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1}]}""";

  private KubeApi.Running server;
  private Installed cluster;
  private PoolFixture pool;

  @BeforeEach
  void start() {
    server = KubeApi.Running.start();
    cluster = Installed.on(server);
    pool = new PoolFixture(cluster.admin(), cluster.namespace("unnamed"));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void aPoolHasOneEntryOfOursWhateverIsEditedUntilItIsGivenUp() {
    takeControllersAway();
    pool.createPool();
    await()
        .atMost(SEEN)
        .until(
            () -> {
              leave(List.of(GATEWAYS));
              return parents().getFirst().controllerName() == null;
            });
    leave(List.of(LEFT, GATEWAYS, LEFT, LEFT));
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      awaitOneOfOurs();
      for (int port = 8001; port < 8004; port++) {
        cluster
            .admin()
            .resource(pool.need(InferencePool.class, POOL))
            .patch(MERGE, "{\"spec\": {\"targetPorts\": [{\"number\": %d}]}}".formatted(port));
        awaitOneOfOurs();
      }
      pool.awaitEventsSent();
      assertThat(pool.all(Event.class))
          .noneMatch(event -> event.getReason().equals("StatusEntryRemoved"));
    }

    Crds.apply(cluster.admin());
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      await()
          .atMost(SEEN)
          .untilAsserted(
              () ->
                  assertThat(parents())
                      .extracting(ParentStatus::controllerName)
                      .containsExactlyInAnyOrder(null, ParentStatus.FAIRLEAD));
    }

    takeControllersAway();
    leave(List.of(LEFT, GATEWAYS, LEFT));
    try (var _ = new OperatorUnderTest(cluster, pool, false)) {
      await()
          .atMost(SEEN)
          .untilAsserted(
              () ->
                  assertThat(parents())
                      .singleElement()
                      .matches(parent -> "Gateway".equals(refOf(parent))));
    }
  }

  /** And that of the gateway, which no controller is named in either. */
  private void awaitOneOfOurs() {
    long generation = pool.need(InferencePool.class, POOL).getMetadata().getGeneration();
    await()
        .atMost(SEEN)
        .untilAsserted(
            () -> {
              assertThat(parents())
                  .extracting(UnnamedEntriesIT::refOf)
                  .containsExactlyInAnyOrder("Gateway", "EndpointPicker");
              assertThat(pool.entry(POOL))
                  .isNotEmpty()
                  .allMatch(
                      condition -> Objects.equals(condition.getObservedGeneration(), generation));
            });
  }

  private List<ParentStatus> parents() {
    return Objects.requireNonNull(pool.need(InferencePool.class, POOL).getStatus()).parents();
  }

  private static String refOf(ParentStatus parent) {
    return String.valueOf(Objects.requireNonNull(parent.parentRef()).kind());
  }

  private void leave(List<String> entries) {
    cluster
        .admin()
        .resource(pool.need(InferencePool.class, POOL))
        .subresource("status")
        .patch(MERGE, "{\"status\": {\"parents\": [%s]}}".formatted(String.join(",", entries)));
  }

  private void takeControllersAway() {
    cluster
        .admin()
        .resources(CustomResourceDefinition.class)
        .withName("inferencepools.inference.networking.k8s.io")
        .edit(
            crd -> {
              for (CustomResourceDefinitionVersion version : crd.getSpec().getVersions()) {
                JSONSchemaProps whole = version.getSchema().getOpenAPIV3Schema();
                JSONSchemaProps entries = property(property(whole, "status"), "parents");
                entries.getItems().getSchema().getProperties().remove("controllerName");
              }
              return crd;
            });
  }

  private static JSONSchemaProps property(JSONSchemaProps schema, String name) {
    return Objects.requireNonNull(schema.getProperties().get(name));
  }
}
