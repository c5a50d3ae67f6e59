package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.PICKER;
import static io.fairlead.operator.testing.PoolFixture.POOL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.observe.Adoption;
import io.fairlead.operator.reconcile.Settings;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Nothing is written while nothing changes, as the API server's audit log tells. */
@ExtendWith(KubeApi.class)
class QuietIT {
  /** How long the log is watched, in seconds: {@code ./hack/load operator} watches ten minutes. */
  private static final int SECONDS = Integer.getInteger("fairlead.operator.quiet", 5);

  private static final Duration GRACE = Duration.ofSeconds(2);

  private Installed cluster;
  private PoolFixture pool;

  @BeforeEach
  void prepare(KubeApi.Running server) {
    cluster = Installed.on(server);
    pool = new PoolFixture(cluster.admin(), cluster.namespace("quiet"));
  }

  @Test
  void aPoolThatWasMadeIsLeftInPeace() {
    try (var operator = new OperatorUnderTest(cluster, pool, true)) {
      serve();
      assertThat(created(operator))
          .as("a pod needs its account, its account its rights, and both the config")
          .containsSubsequence("serviceaccounts", "rolebindings", "configmaps", "deployments");
      assertThat(operator.requests())
          .filteredOn(request -> request.verb().equals("get") && request.code() == 404)
          .filteredOn(request -> request.name().equals(PICKER))
          .as("what an apply finds out by itself isn't asked before")
          .isEmpty();
      AuditLog.Mark settled = settle(operator);
      await()
          .during(Duration.ofSeconds(SECONDS))
          .atMost(Duration.ofSeconds(SECONDS + 60))
          .pollInterval(Duration.ofSeconds(1))
          .until(() -> writes(operator, settled).isEmpty());
      assertThat(operator.requests(settled))
          .filteredOn(request -> !OperatorUnderTest.looksForAKind(request))
          .as("nor is anything asked again and again")
          .isEmpty();
    }
  }

  @Test
  void aClockThatJumpsChangesNothing() {
    AtomicReference<Instant> now = new AtomicReference<>(Instant.now());
    InstantSource clock = now::get;
    try (var operator = new OperatorUnderTest(cluster, pool, settings(Duration.ZERO), clock)) {
      serve();
      Map<String, String> since = times();
      AuditLog.Mark settled = settle(operator);
      for (int days : new int[] {400, -800, 400}) {
        now.updateAndGet(before -> before.plus(Duration.ofDays(days)));
        int seen = operator.reconciled("InferencePool/" + POOL);
        pool.touchAll(Math.abs(days) + (days < 0 ? 1 : 0));
        operator.awaitReconciled("InferencePool/" + POOL, seen + 1);
      }
      assertThat(writes(operator, settled)).isEmpty();

      now.updateAndGet(before -> before.minus(Duration.ofDays(10)));
      pool.becomeUnavailable();
      pool.awaitModel("chat", "Ready", "False/EPPUnavailable");
      assertThat(times())
          .as("what has not changed keeps its time")
          .containsEntry("Accepted", since.get("Accepted"))
          .containsEntry("ResolvedRefs", since.get("ResolvedRefs"));
      assertThat(Instant.parse(times().get("Ready"))).isBefore(Instant.parse(since.get("Ready")));
    }
  }

  /** Installs apply their Service a moment later, and our clock may be any. */
  @Test
  void aClockThatIsAheadOrBehindMakesNoGraceLongerOrShorter() {
    for (int days : new int[] {30, -30}) {
      Instant wrong = Instant.now().plus(Duration.ofDays(days));
      String name = days > 0 ? "ahead" : "behind";
      try (var _ = new OperatorUnderTest(cluster, pool, settings(GRACE), () -> wrong)) {
        pool.createPool(name, name + "-service");
        await()
            .atMost(Duration.ofSeconds(30))
            .until(() -> pool.get(Service.class, name + "-service") != null);
        assertThat(
                Duration.between(
                    created(pool.need(InferencePool.class, name)),
                    created(pool.need(Service.class, name + "-service"))))
            .as("left to others, by the API server's clock")
            .isGreaterThanOrEqualTo(GRACE);
      }
    }
  }

  private static Instant created(HasMetadata object) {
    return Instant.parse(object.getMetadata().getCreationTimestamp());
  }

  private void serve() {
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.createModel("summarize", "summarize", 50);
    pool.becomeReady();
    pool.awaitModel("chat", "Ready", "True/Ready");
    pool.awaitModel("summarize", "Ready", "True/Ready");
    pool.awaitEventsSent();
  }

  private static Settings settings(Duration grace) {
    return new Settings(Adoption.ALL, grace, OperatorUnderTest.PICKER);
  }

  /** Waits until what was begun has been written, Events included. */
  private static AuditLog.Mark settle(OperatorUnderTest operator) {
    AtomicReference<List<AuditLog.Request>> last = new AtomicReference<>(List.of());
    await()
        .atMost(Duration.ofSeconds(30))
        .pollInterval(Duration.ofMillis(500))
        .until(
            () -> {
              List<AuditLog.Request> now = operator.requests();
              return now.size() == last.getAndSet(now).size();
            });
    return operator.mark();
  }

  private static List<AuditLog.Request> writes(OperatorUnderTest operator, AuditLog.Mark since) {
    return operator.requests(since).stream().filter(AuditLog.Request::writes).toList();
  }

  private static List<String> created(OperatorUnderTest operator) {
    return operator.writes().stream()
        .filter(request -> request.name().equals(PICKER))
        .map(AuditLog.Request::resource)
        .toList();
  }

  /** When the model's conditions came to be what they are, by type. */
  private Map<String, String> times() {
    return pool.need(InferenceModel.class, "chat").getStatus().conditions().stream()
        .collect(Collectors.toMap(Condition::getType, Condition::getLastTransitionTime));
  }
}
