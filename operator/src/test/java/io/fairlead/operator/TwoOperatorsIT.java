package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.status.Notice;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** One operator for all namespaces, and one of a team, say. */
@ExtendWith(KubeApi.class)
class TwoOperatorsIT {
  /** What is answered to who writes what another has written, or deleted, just before. */
  private static final List<Integer> TOO_LATE =
      List.of(HttpURLConnection.HTTP_CONFLICT, HttpURLConnection.HTTP_NOT_FOUND);

  @Test
  void whatOneServesTheOtherLeavesAlone(KubeApi.Running server) {
    Installed cluster = Installed.on(server);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("two"));
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    try (var all = new OperatorUnderTest(cluster, pool, false);
        var _ = new OperatorUnderTest(cluster, pool, true)) {
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () ->
                  assertThat(pool.all(Event.class))
                      .extracting(Event::getReason)
                      .contains(Notice.SERVED_BY_ANOTHER.wireName()));
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () -> {
                assertThat(pool.get(Service.class, "picker-service")).isNotNull();
                assertThat(pool.get(Deployment.class, PoolFixture.PICKER)).isNotNull();
                assertThat(pool.poolConditions()).containsEntry("Accepted", "True/Accepted");
                assertThat(pool.modelConditions("chat")).containsEntry("Accepted", "True/Accepted");
              });
      List<String> before = uids(pool);
      int seen = all.reconciled("InferencePool/pool");
      pool.touchAll(1);
      all.awaitReconciled("InferencePool/pool", seen + 1);
      pool.becomeReady();
      assertThat(uids(pool)).as("nothing is deleted any more").isEqualTo(before);
      assertThat(pool.all(Event.class))
          .extracting(Event::getReason)
          .as("told once")
          .containsOnlyOnce(Notice.SERVED_BY_ANOTHER.wireName());
    }
  }

  /** As two installs do that serve the same pools, or two processes that elect no leader. */
  @Test
  void whoAgreeMakeAllOnceAndAreQuiet(KubeApi.Running server) {
    Installed cluster = Installed.on(server);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("agreed"));
    try (var one = new OperatorUnderTest(cluster, pool, true);
        var other = new OperatorUnderTest(cluster, pool, true)) {
      pool.createPicker("mine", "{name: pool}");
      pool.createPool();
      pool.createModel("chat", "chat", 90);
      pool.awaitPickerCarriedOut();
      pool.becomeReady();
      pool.awaitModel("chat", "Ready", "True/Ready");
      pool.awaitPicker("mine", "Ready", "True/Ready");
      long generation =
          pool.need(Deployment.class, PoolFixture.PICKER).getMetadata().getGeneration();
      pool.awaitEventsSent();
      // Whoever came second may still be at the last write, which the other has done, and at a look
      // that began before it saw that.
      touch(pool, 1, one, other);
      touch(pool, 2, one, other);
      AuditLog.Mark ready = one.mark();
      for (int round = 3; round <= 5; round++) {
        touch(pool, round, one, other);
      }
      assertThat(one.requests(ready))
          .filteredOn(AuditLog.Request::writes)
          .filteredOn(request -> !TOO_LATE.contains(request.code()))
          .isEmpty();
      assertThat(pool.need(Deployment.class, PoolFixture.PICKER).getMetadata().getGeneration())
          .isEqualTo(generation);
      assertThat(pool.all(Event.class))
          .extracting(Event::getReason)
          .doesNotContain(
              Notice.REPAIRED.wireName(),
              Notice.STATUS_CONTENDED.wireName(),
              Notice.SERVED_BY_ANOTHER.wireName());
    }
  }

  private static void touch(PoolFixture pool, int round, OperatorUnderTest... operators) {
    int[] seen =
        Stream.of(operators).mapToInt(one -> one.reconciled("InferencePool/pool")).toArray();
    pool.touchAll(round);
    for (int i = 0; i < operators.length; i++) {
      operators[i].awaitReconciled("InferencePool/pool", seen[i] + 1);
    }
  }

  private static List<String> uids(PoolFixture pool) {
    return List.<HasMetadata>of(
            pool.need(Service.class, "picker-service"),
            pool.need(Deployment.class, PoolFixture.PICKER))
        .stream()
        .map(object -> object.getMetadata().getUid())
        .toList();
  }
}
