package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.observe.Adoption;
import io.fairlead.operator.reconcile.Settings;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.PoolFixture;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** An operator that may not do in one namespace what it does in another. */
@ExtendWith(KubeApi.class)
@Makes(Reason.PERMISSION_DENIED)
class ForbiddenIT {
  private static final String ACCOUNT = "limited";

  private Installed cluster;
  private PoolFixture allowed;
  private PoolFixture forbidden;

  @BeforeEach
  void prepare(KubeApi.Running server) {
    cluster = Installed.on(server);
    allowed = new PoolFixture(cluster.admin(), cluster.namespace("allowed"));
    forbidden = new PoolFixture(cluster.admin(), cluster.namespace("forbidden"));
    bind(allowed.namespace(), "ClusterRole", "fairlead-operator");
  }

  @Test
  void aForbiddenNamespaceStopsNoOther() {
    allowed.createPool();
    forbidden.createPool();
    forbidden.createModel("chat", "chat", 90);
    try (OperatorProcess process = start()) {
      allowed.awaitPool("Accepted", "True/Accepted");
      assertThat(process.healthy()).as("a restart would mend nothing").isTrue();
      assertThat(forbidden.poolConditions()).isEmpty();

      bind(forbidden.namespace(), "ClusterRole", "fairlead-operator");
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () ->
                  assertThat(forbidden.poolConditions())
                      .containsEntry("Accepted", "True/Accepted"));
      forbidden.awaitModel("chat", "Accepted", "True/Accepted");
    }
  }

  @Test
  void aMissingPermissionIsNamedAndNothingIsDecidedWithoutIt() {
    ClusterRole all = cluster.admin().rbac().clusterRoles().withName("fairlead-operator").get();
    List<PolicyRule> rules =
        all.getRules().stream().filter(rule -> !rule.getResources().contains("pods")).toList();
    cluster
        .admin()
        .resource(
            new RoleBuilder()
                .withNewMetadata()
                .withName(ACCOUNT)
                .withNamespace(forbidden.namespace())
                .endMetadata()
                .withRules(rules)
                .build())
        .create();
    bind(forbidden.namespace(), "Role", ACCOUNT);
    forbidden.createPool();
    try (OperatorProcess _ = start()) {
      forbidden.awaitPool("Ready", "False/PermissionDenied");
      assertThat(forbidden.poolMessage("Programmed"))
          .contains("cannot list resource \"pods\"", forbidden.namespace(), "grant");
      cluster
          .admin()
          .rbac()
          .roleBindings()
          .inNamespace(forbidden.namespace())
          .withName(ACCOUNT)
          .delete();
      bind(forbidden.namespace(), "ClusterRole", "fairlead-operator");
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () ->
                  assertThat(forbidden.poolConditions())
                      .containsEntry("Ready", "False/RolloutInProgress"));
    }
  }

  private OperatorProcess start() {
    KubernetesClient client = cluster.as(allowed.namespace(), ACCOUNT);
    Operator operator =
        Controllers.on(
            client,
            new Settings(Adoption.ALL, Duration.ZERO, OperatorUnderTest.IMAGE),
            Set.of(allowed.namespace(), forbidden.namespace()),
            Metrics.NOOP,
            InstantSource.system(),
            new SimpleMeterRegistry());
    OperatorProcess process = new OperatorProcess(operator, client);
    process.run();
    return process;
  }

  private void bind(String namespace, String kind, String role) {
    cluster
        .admin()
        .resource(
            new RoleBindingBuilder()
                .withNewMetadata()
                .withName(ACCOUNT)
                .withNamespace(namespace)
                .endMetadata()
                .withNewRoleRef("rbac.authorization.k8s.io", kind, role)
                .addNewSubject()
                .withKind("ServiceAccount")
                .withName(ACCOUNT)
                .withNamespace(allowed.namespace())
                .endSubject()
                .build())
        .create();
  }
}
