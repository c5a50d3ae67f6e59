package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.PICKER;
import static io.fairlead.operator.testing.PoolFixture.POOL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.observe.Adoption;
import io.fairlead.operator.reconcile.Settings;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Which pools are taken, and how they are given up again. */
@ExtendWith(KubeApi.class)
class AdoptionIT {
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private static Installed cluster;

  private PoolFixture pool;
  private @Nullable OperatorUnderTest started;

  @BeforeAll
  static void install(KubeApi.Running server) {
    cluster = Installed.on(server);
  }

  @BeforeEach
  void prepare() {
    pool = new PoolFixture(cluster.admin(), cluster.namespace("adopt"));
  }

  @AfterEach
  void stop() {
    if (started != null) {
      started.close();
    }
  }

  private OperatorUnderTest operator() {
    return Objects.requireNonNull(started);
  }

  private void start(Adoption adoption, Duration grace) {
    started =
        new OperatorUnderTest(
            cluster,
            pool,
            new Settings(adoption, grace, OperatorUnderTest.IMAGE),
            InstantSource.system());
  }

  @Test
  void anInstallThatAppliesItsServiceAfterThePoolIsLeftAlone() {
    start(Adoption.ALL, Duration.ofMinutes(10));
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    operator().awaitReconciled("InferencePool/pool", 1);
    assertThat(pool.get(Service.class, "picker-service")).isNull();
    pool.create(
        """
        apiVersion: v1
        kind: Service
        metadata: {name: picker-service}
        spec: {ports: [{port: 9002}]}
        """);
    pool.awaitModel("chat", "ResolvedRefs", "False/PoolNotManaged");
    assertThat(pool.need(Service.class, "picker-service").getMetadata().getLabels())
        .isNullOrEmpty();
    assertThat(pool.get(Deployment.class, PICKER)).isNull();
  }

  @Test
  void aPoolThatNobodyElseServesIsTakenAfterTheGrace() {
    start(Adoption.ALL, Duration.ofSeconds(2));
    pool.createPool();
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
  }

  @Test
  void onlyALabelledPoolIsTakenWhereTheOperatorIsToldSo() {
    start(Adoption.LABELLED, Duration.ZERO);
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.awaitModel("chat", "ResolvedRefs", "False/PoolNotManaged");
    cluster
        .admin()
        .resource(pool.need(InferencePool.class, POOL))
        .patch(MERGE, "{\"metadata\":{\"labels\":{\"fairlead.io/adopt\":\"true\"}}}");
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");

    cluster
        .admin()
        .resource(pool.need(InferencePool.class, POOL))
        .patch(MERGE, "{\"metadata\":{\"labels\":{\"fairlead.io/adopt\":null}}}");
    await().until(() -> pool.get(Deployment.class, PICKER) == null);
    awaitEvent("NoLongerServed");
  }

  @Test
  void aNumberOfReplicasThatIsNotSetAnyMoreStays() {
    start(Adoption.ALL, Duration.ZERO);
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    await().until(() -> pool.get(Deployment.class, PICKER) != null);
    patchPicker("{\"spec\":{\"replicas\":10}}");
    await().until(() -> replicas() == 10);

    patchPicker("{\"spec\":{\"replicas\":null}}");
    await()
        .until(
            () ->
                pool.need(Deployment.class, PICKER).getMetadata().getManagedFields().stream()
                    .anyMatch(fields -> fields.getManager().equals("fairlead-last-replicas")));
    int times = operator().reconciled("InferencePool/pool");
    pool.touchAll(1);
    operator().awaitReconciled("InferencePool/pool", times + 2);
    assertThat(replicas()).isEqualTo(10);

    pool.need(Deployment.class, PICKER);
    cluster.admin().apps().deployments().inNamespace(pool.namespace()).withName(PICKER).scale(4);
    times = operator().reconciled("InferencePool/pool");
    pool.touchAll(2);
    operator().awaitReconciled("InferencePool/pool", times + 2);
    assertThat(replicas()).as("an autoscaler's").isEqualTo(4);

    patchPicker("{\"spec\":{\"replicas\":3}}");
    await().until(() -> replicas() == 3);
  }

  @Test
  void theEntryIsNotPutBackAsFastAsOthersRemoveIt() {
    start(Adoption.ALL, Duration.ZERO);
    pool.createPool();
    pool.awaitPool("Accepted", "True/Accepted");
    long before = entryWrites();
    for (int removal = 0; removal < 6; removal++) {
      removeEntry();
      pool.awaitPool("Accepted", "True/Accepted");
    }
    removeEntry();
    awaitEvent("StatusEntryRemoved");
    int times = operator().reconciled("InferencePool/pool");
    pool.touchAll(1);
    operator().awaitReconciled("InferencePool/pool", times + 2);
    assertThat(pool.poolConditions()).isEmpty();
    assertThat(entryWrites() - before).isBetween(6L, 8L);
  }

  private void removeEntry() {
    cluster
        .admin()
        .resource(pool.need(InferencePool.class, POOL))
        .subresource("status")
        .patch(MERGE, "{\"status\":{\"parents\":[]}}");
  }

  private long entryWrites() {
    return operator().writes().stream()
        .filter(write -> write.resource().equals("inferencepools/status"))
        .count();
  }

  private void awaitEvent(String reason) {
    await()
        .atMost(Duration.ofSeconds(15))
        .untilAsserted(
            () -> {
              List<Event> events =
                  cluster.admin().v1().events().inNamespace(pool.namespace()).list().getItems();
              assertThat(events).extracting(Event::getReason).contains(reason);
            });
  }

  private int replicas() {
    return pool.need(Deployment.class, PICKER).getSpec().getReplicas();
  }

  private void patchPicker(String merge) {
    cluster.admin().resource(pool.need(EndpointPicker.class, "mine")).patch(MERGE, merge);
  }
}
