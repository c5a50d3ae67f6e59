package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import java.net.URI;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two replicas of the operator and their Lease. */
@ExtendWith(KubeApi.class)
class LeadershipIT {
  private final List<String> firstWrites = new CopyOnWriteArrayList<>();
  private final List<String> secondWrites = new CopyOnWriteArrayList<>();
  private final AtomicBoolean lost = new AtomicBoolean();

  private final List<OperatorProcess> processes = new ArrayList<>();

  @AfterEach
  void end() {
    processes.forEach(OperatorProcess::close);
  }

  @Test
  void aStandbyTakesOverWhenTheLeaderEnds(KubeApi.Running server) {
    Installed cluster = Installed.on(server);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("leader"));
    String lease = pool.namespace();
    OperatorProcess first = process(cluster.operator(firstWrites::add), pool);
    OperatorProcess second = process(cluster.operator(secondWrites::add), pool);
    assertThat(first.ready()).as("before it stands for election").isFalse();
    first.elect(
        Installed.NAMESPACE,
        lease,
        "first",
        new Fence(
            URI.create("https://api.test"),
            Leadership.LEASE,
            System::nanoTime,
            InstantSource.system()),
        () -> {},
        () -> lost.set(true));
    awaitHolder(cluster, lease, "first");
    second.elect(
        Installed.NAMESPACE,
        lease,
        "second",
        new Fence(
            URI.create("https://api.test"),
            Leadership.LEASE,
            System::nanoTime,
            InstantSource.system()),
        () -> {},
        () -> lost.set(true));
    pool.createPool();
    pool.awaitPool("Accepted", "True/Accepted");
    await().until(second::ready);
    assertThat(secondWrites).as("a standby only reads").isEmpty();

    first.close();
    assertThat(firstWrites.getLast()).as("the Lease is given last").endsWith("/leases/" + lease);
    int byFirst = firstWrites.size();
    assertThat(spec(cluster, lease).getHolderIdentity())
        .as("nobody has to wait until it ends by itself")
        .isIn("", "second");
    awaitHolder(cluster, lease, "second");
    pool.createModel("chat", "chat", 90);
    pool.awaitModel("chat", "Accepted", "True/Accepted");
    assertThat(first.ready()).isFalse();
    assertThat(firstWrites).hasSize(byFirst);

    second.close();
    assertThat(spec(cluster, lease).getHolderIdentity()).as("given back").isEmpty();
    assertThat(lost).as("leadership was given, not lost").isFalse();
  }

  /** As others make them, by hand or with another client: nobody would ever lead again. */
  @ParameterizedTest
  @ValueSource(strings = {"{holderIdentity: gone}", "{leaseTransitions: 3}", "{}"})
  void aLeaseThatLacksFieldsIsTakenOver(String spec, KubeApi.Running server) {
    Installed cluster = Installed.on(server);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("fields"));
    String lease = pool.namespace();
    new PoolFixture(cluster.admin(), Installed.NAMESPACE)
        .create(
            "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: %s}\nspec: %s\n"
                .formatted(lease, spec));
    process(cluster.operator(), pool)
        .elect(
            Installed.NAMESPACE,
            lease,
            "first",
            new Fence(
                URI.create("https://api.test"),
                Leadership.LEASE,
                System::nanoTime,
                InstantSource.system()),
            () -> {},
            () -> lost.set(true));
    await()
        .atMost(Leadership.LEASE.plusSeconds(60))
        .until(() -> "first".equals(spec(cluster, lease).getHolderIdentity()));
    assertThat(spec(cluster, lease).getLeaseDurationSeconds())
        .isEqualTo((int) Leadership.LEASE.toSeconds());
  }

  private OperatorProcess process(KubernetesClient client, PoolFixture pool) {
    OperatorProcess process =
        new OperatorProcess(OperatorUnderTest.on(client, pool, true, Metrics.NOOP), client);
    processes.add(process);
    return process;
  }

  private static void awaitHolder(Installed cluster, String lease, String holder) {
    await().until(() -> holder.equals(spec(cluster, lease).getHolderIdentity()));
  }

  private static LeaseSpec spec(Installed cluster, String name) {
    Lease lease = cluster.admin().leases().inNamespace(Installed.NAMESPACE).withName(name).get();
    return lease == null ? new LeaseSpec() : lease.getSpec();
  }
}
