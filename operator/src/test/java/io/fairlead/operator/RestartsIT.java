package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Outage;
import io.fairlead.operator.testing.Overload;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Whenever an operator ends, or loses the API server, the next one goes on from what is there. */
@ExtendWith(KubeApi.class)
class RestartsIT {
  private static final int RESTARTS = 20;

  /** Objects that are written for a pool with two models, statuses included. */
  private static final int WRITES = 8;

  /** Seconds that the API server is away: {@code -Dfairlead.operator.away=60} is the long one. */
  private static final int AWAY = Integer.getInteger("fairlead.operator.away", 10);

  private static final List<Class<? extends HasMetadata>> CHILDREN =
      List.of(ServiceAccount.class, RoleBinding.class, ConfigMap.class, Deployment.class);

  private static final Pattern OF_POOL = Pattern.compile("/(?:kill|of-kill|chat-|code-)(\\d+)\\b");

  private Installed cluster;
  private PoolFixture pool;

  @BeforeEach
  void prepare(KubeApi.Running server) {
    cluster = Installed.on(server);
    pool = new PoolFixture(cluster.admin(), cluster.namespace("restarts"));
  }

  /** To pool n an operator dies when it has written n times, for every n. */
  @Test
  void afterAnyWriteTheNextOneGoesOnToTheSameEnd() {
    Map<Integer, AtomicInteger> written = new ConcurrentHashMap<>();
    try (var _ =
        new OperatorUnderTest(
            cluster,
            pool,
            true,
            write -> {
              Matcher path = OF_POOL.matcher(write);
              if (path.find()) {
                int n = Integer.parseInt(path.group(1));
                if (written.computeIfAbsent(n, k -> new AtomicInteger()).incrementAndGet() > n) {
                  throw new IllegalStateException("this operator is dead to pool " + n);
                }
              }
            })) {
      for (int n = 0; n <= WRITES; n++) {
        pool.createPool("kill" + n, "of-kill" + n);
        pool.createModel("chat-" + n, "chat", 90, "kill" + n);
        pool.createModel("code-" + n, "code", 10, "kill" + n);
      }
      await()
          .atMost(Duration.ofMinutes(2))
          .untilAsserted(
              () -> {
                for (int n = 0; n < WRITES; n++) {
                  assertThat(written.getOrDefault(n, new AtomicInteger())).hasValueGreaterThan(n);
                }
              });
    }
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      await()
          .atMost(Duration.ofMinutes(1))
          .untilAsserted(
              () -> {
                for (int n = 0; n <= WRITES; n++) {
                  served(n);
                }
              });
    }
  }

  private void served(int n) {
    String picker = "kill" + n + "-epp";
    for (Class<? extends HasMetadata> kind : CHILDREN) {
      assertThat(pool.get(kind, picker)).as("%s %s", kind.getSimpleName(), picker).isNotNull();
    }
    assertThat(pool.get(Service.class, "of-kill" + n)).isNotNull();
    assertThat(PoolFixture.brief(pool.entry("kill" + n)))
        .containsEntry("Accepted", "True/Accepted")
        .containsEntry("ResolvedRefs", "True/ResolvedRefs")
        .containsEntry("Ready", "False/RolloutInProgress");
    for (String model : List.of("chat-", "code-")) {
      assertThat(pool.modelConditions(model + n)).containsEntry("Accepted", "True/Accepted");
    }
  }

  @Test
  void twentyRestartsInARowLoseNothing() {
    pool.createPool();
    for (int i = 0; i < RESTARTS; i++) {
      pool.createModel("m" + i, "m" + i, 90);
    }
    for (int i = 0; i < RESTARTS; i++) {
      // Not waited for: each ends in the middle of what it found to do.
      try (var _ = new OperatorUnderTest(cluster, pool, true)) {
        weigh(i, i + 1);
        weigh((i + 7) % RESTARTS, (i + 7) % RESTARTS + 1);
      }
    }
    try (var operator = new OperatorUnderTest(cluster, pool, true)) {
      awaitWeights();
      // What a look writes is written once it has ended.
      int seen = operator.reconciled("InferencePool/pool");
      pool.touchAll(1);
      operator.awaitReconciled("InferencePool/pool", seen + 1);
    }
    try (var operator = new OperatorUnderTest(cluster, pool, true)) {
      operator.awaitReconciled("InferencePool/pool", 1);
      assertThat(operator.writes()).as("all was written").isEmpty();
    }
  }

  @Test
  void anApiServerThatWasAwayIsCaughtUpWithWithoutAStorm() {
    Config account = cluster.account(Installed.NAMESPACE, "fairlead-operator");
    try (Outage way = new Outage(account);
        var operator = operator(way.through(account))) {
      servePool();
      AuditLog.Mark before = operator.mark();
      long begun = System.nanoTime();
      way.begin();
      for (int i = 0; i < RESTARTS; i++) {
        weigh(i, i + 1);
      }
      pool.delete(Service.class, "picker-service");
      pool.createModel("late", "late", 1);
      await()
          .during(Duration.ofSeconds(AWAY))
          .atMost(Duration.ofSeconds(AWAY + 60))
          .pollInterval(Duration.ofSeconds(1))
          .until(() -> pool.get(Service.class, "picker-service") == null);
      way.end();

      awaitWeights();
      pool.awaitModel("late", "Accepted", "True/Accepted");
      awaitService();
      assertThat(pool.poolConditions()).as("the picker has not changed").containsKey("Ready");
      // Where an outage lasts longer, informers are back up to 16 s after it, and meanwhile what
      // they are denied is looked for every 5 s: a list and a watch of each of 13 kinds.
      long seconds = Duration.ofNanos(System.nanoTime() - begun).toSeconds();
      int looks = (int) Math.max(0, seconds - 15) / 5;
      assertThat(operator.requests(before))
          .filteredOn(request -> !request.resource().equals("events")) // one of each transition
          .as("a list and a watch of each kind, a write of each status and child")
          .hasSizeLessThan(60 + 6 * RESTARTS + 2 * 13 * looks);
    }
  }

  @Test
  void anApiServerThatFailsAtAThirdOfAllIsCaughtUpWithWithoutAStorm() {
    Config account = cluster.account(Installed.NAMESPACE, "fairlead-operator");
    try (Overload way = new Overload(account);
        var _ = operator(way.through(account))) {
      servePool();
      List<String> children = uids();
      long begun = System.nanoTime();
      way.begin();
      for (int i = 0; i < RESTARTS; i++) {
        weigh(i, i + 1);
      }
      pool.delete(Service.class, "picker-service");
      pool.createModel("late", "late", 1);
      await()
          .during(Duration.ofSeconds(AWAY))
          .atMost(Duration.ofSeconds(AWAY + 60))
          .pollInterval(Duration.ofSeconds(1))
          .untilAsserted(() -> assertThat(uids()).as("nothing is deleted").isEqualTo(children));
      int asked = way.asked();
      way.end();
      long seconds = Duration.ofNanos(System.nanoTime() - begun).toSeconds();

      awaitWeights();
      pool.awaitModel("late", "Accepted", "True/Accepted");
      awaitService();
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () ->
                  assertThat(pool.poolConditions())
                      .containsEntry("Accepted", "True/Accepted")
                      .containsEntry("ResolvedRefs", "True/ResolvedRefs"));
      assertThat(uids()).isEqualTo(children);
      assertThat(asked)
          .as("a list and a watch of each kind, a write of each status and child, and tries")
          .isLessThan(2 * (60 + 6 * RESTARTS) + 10 * (int) seconds);
    }
  }

  /** Each kind is watched again, and what failed is tried again, at an interval of its own. */
  private void awaitService() {
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> pool.get(Service.class, "picker-service") != null);
  }

  private List<String> uids() {
    return CHILDREN.stream()
        .map(kind -> pool.need(kind, PoolFixture.PICKER).getMetadata().getUid())
        .toList();
  }

  private OperatorUnderTest operator(Config account) {
    return new OperatorUnderTest(
        cluster,
        pool,
        OperatorUnderTest.settings(true),
        InstantSource.system(),
        new KubernetesClientBuilder().withConfig(account).build());
  }

  private void servePool() {
    pool.createPool();
    for (int i = 0; i < RESTARTS; i++) {
      pool.createModel("m" + i, "m" + i, 90);
    }
    pool.becomeReady();
    pool.awaitModel("m" + (RESTARTS - 1), "Accepted", "True/Accepted");
  }

  private void weigh(int model, int weight) {
    cluster
        .admin()
        .resource(pool.need(InferenceModel.class, "m" + model))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"targetModels\":[{\"name\":\"t%d\",\"weight\":%d}]}}"
                .formatted(model, weight));
  }

  /** Waits until each model is in the config as it was edited last, and its status says so. */
  private void awaitWeights() {
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () -> {
              String config = pool.config();
              for (int i = 0; i < RESTARTS; i++) {
                InferenceModel model = pool.need(InferenceModel.class, "m" + i);
                assertThat(config).containsPattern("t%d\\W+weight\\W+%d\\b".formatted(i, i + 1));
                assertThat(model.getStatus()).as("told at all").isNotNull();
                assertThat(model.getStatus().conditions())
                    .isNotEmpty()
                    .allMatch(
                        condition ->
                            condition
                                .getObservedGeneration()
                                .equals(model.getMetadata().getGeneration()));
              }
            });
  }
}
