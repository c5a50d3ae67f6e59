package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.OperatorProgram;
import io.fairlead.operator.testing.PoolFixture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Two operators, each a process: one leads until it freezes, or is killed. */
@ExtendWith(KubeApi.class)
class LeaderFaultsIT {
  private static final int MODELS = 30;

  /** A Lease of 15 s, tries that are up to 2.2 s apart, and a machine that is busy. */
  private static final Duration TAKEOVER = Duration.ofSeconds(60);

  @TempDir private Path folder;
  private KubeApi.Running server;
  private PoolFixture pool;

  @BeforeEach
  void prepare(KubeApi.Running running) {
    server = running;
    Installed cluster = Installed.on(server);
    pool = new PoolFixture(cluster.admin(), cluster.namespace("leaders"));
    cluster.letLead(pool.namespace());
  }

  @Test
  void whoeverLeadsNothingIsLostAndNothingStaleIsWritten() {
    pool.createPool();
    for (int i = 0; i < MODELS; i++) {
      pool.createModel("m" + i, "m" + i, 90);
    }
    try (OperatorProgram first = start("first");
        OperatorProgram second = startAfter("second", "first")) {
      told(1);
      first.freeze();
      edit(2);
      awaitLeader("second", TAKEOVER);
      told(2);

      AuditLog.Mark thawed = server.audit().mark();
      first.thaw();
      assertThat(first.code()).as("it can't go on: %s", first.log()).isEqualTo(1);
      assertThat(asked(thawed, "first")).noneMatch(LeaderFaultsIT::changesSomething);
      told(2);

      try (OperatorProgram _ = startAfter("third", "second")) {
        edit(3);
        second.kill();
        awaitLeader("third", TAKEOVER);
        told(3);
      }
    }
  }

  private OperatorProgram start(String name) {
    OperatorProgram program =
        OperatorProgram.start(
            name,
            server.kubeConfig(),
            pool.namespace(),
            folder,
            "--watch-namespaces",
            pool.namespace(),
            "--adopt-grace-seconds",
            "0");
    await()
        .atMost(OperatorProgram.STARTS)
        .until(() -> program.log().contains("health and metrics on port"));
    return program;
  }

  private OperatorProgram startAfter(String name, String leader) {
    awaitLeader(leader, OperatorProgram.STARTS);
    return start(name);
  }

  private void awaitLeader(String name, Duration time) {
    await()
        .atMost(time)
        .until(
            () -> {
              var lease =
                  server
                      .client()
                      .leases()
                      .inNamespace(pool.namespace())
                      .withName("fairlead-operator")
                      .get();
              return lease != null
                  && String.valueOf(lease.getSpec().getHolderIdentity()).startsWith(name + "_");
            });
  }

  /** Gives every model another generation. */
  private void edit(int generation) {
    for (int i = 0; i < MODELS; i++) {
      server
          .client()
          .resource(pool.need(InferenceModel.class, "m" + i))
          .patch(
              PatchContext.of(PatchType.JSON_MERGE),
              "{\"spec\":{\"targetModels\":[{\"name\":\"a\",\"weight\":%d}]}}"
                  .formatted(generation));
    }
  }

  /** Waits until each model's status is that of this generation, and the config has them all. */
  private void told(int generation) {
    await()
        .atMost(OperatorProgram.STARTS)
        .untilAsserted(
            () -> {
              for (int i = 0; i < MODELS; i++) {
                InferenceModel model = pool.need(InferenceModel.class, "m" + i);
                assertThat(model.getStatus()).isNotNull();
                assertThat(model.getStatus().conditions())
                    .isNotEmpty()
                    .allMatch(condition -> condition.getObservedGeneration() == generation);
              }
              if (generation > 1) {
                assertThat(pool.config().split("weight: " + generation + "\\b", -1))
                    .hasSize(MODELS + 1);
              }
            });
  }

  private List<AuditLog.Request> asked(AuditLog.Mark since, String agent) {
    return server.audit().since(since).stream()
        .filter(request -> request.agent().equals(agent))
        .toList();
  }

  private static boolean changesSomething(AuditLog.Request request) {
    return request.writes() && !request.resource().equals("leases");
  }
}
