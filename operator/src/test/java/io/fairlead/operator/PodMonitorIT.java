package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.PoolFixture;
import io.fairlead.operator.testing.Silent;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A picker's PodMonitor, on an API server of its own: the kind is not there at first. */
@Makes(Reason.NO_POD_MONITORS)
class PodMonitorIT {
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  /** A kind that wasn't there is looked for at growing intervals. */
  private static final Duration SEEN = Duration.ofSeconds(90);

  private static final String MONITORED =
      """
      apiVersion: fairlead.io/v1alpha1
      kind: EndpointPicker
      metadata: {name: mine}
      spec: {poolRef: {name: pool}, monitoring: {podMonitor: {interval: 15s, labels: {release: prometheus}}}}
      """;

  private KubeApi.Running server;

  @BeforeEach
  void startServer() {
    server = KubeApi.Running.start();
  }

  @AfterEach
  void stopServer() {
    server.close();
  }

  @Test
  void itIsMadeWhereTheClusterHasTheKindAndToldWhereNot() {
    Installed cluster = Installed.on(server);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("monitored"));
    pool.create(MONITORED);
    pool.createPool();
    try (var operator = new OperatorUnderTest(cluster, pool, true)) {
      pool.awaitPicker("mine", "Monitored", "False/NoPodMonitors");
      assertThat(pool.pickerMessage("mine", "Monitored"))
          .contains("install the Prometheus operator", "EndpointPicker mine");
      pool.becomeReady();

      Crds.podMonitors(cluster.admin());
      await().atMost(SEEN).until(() -> monitor(cluster, pool) != null);
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(pool.pickerConditions("mine"))
                      .containsEntry("Ready", "True/Ready")
                      .doesNotContainKey("Monitored"));
      assertThat(spec(cluster, pool))
          .contains("port=http-metrics", "interval=15s", "fairlead.io/picker=pool-epp");
      pool.awaitEventsSent();
      int writes = operator.writes().size();
      int times = operator.reconciled("InferencePool/pool");
      pool.touchAll(1);
      operator.awaitReconciled("InferencePool/pool", times + 1);
      assertThat(operator.writes()).as("nothing is applied again").hasSize(writes);

      cluster
          .admin()
          .genericKubernetesResources("monitoring.coreos.com/v1", "PodMonitor")
          .inNamespace(pool.namespace())
          .withName(PoolFixture.PICKER)
          .patch(MERGE, "{\"spec\":{\"podMetricsEndpoints\":[{\"port\":\"wrong\"}]}}");
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(() -> assertThat(spec(cluster, pool)).contains("port=http-metrics"));

      cluster
          .admin()
          .resource(pool.need(EndpointPicker.class, "mine"))
          .patch(MERGE, "{\"spec\":{\"monitoring\":null}}");
      await().atMost(Duration.ofSeconds(30)).until(() -> monitor(cluster, pool) == null);
      pool.awaitPool("Ready", "True/Ready");
    }
  }

  /** One namespace whose PodMonitors may not be read must not cost others theirs. */
  @Test
  void whatMayBeReadIsJudgedByNamespace() {
    Installed cluster = Installed.on(server);
    Crds.podMonitors(cluster.admin());
    PoolFixture allowed = monitored(cluster, "allowed");
    PoolFixture forbidden = monitored(cluster, "forbidden");
    ClusterRole all = cluster.admin().rbac().clusterRoles().withName("fairlead-operator").get();
    role(allowed, all.getRules(), allowed);
    role(
        forbidden,
        all.getRules().stream()
            .filter(rule -> !rule.getResources().contains("podmonitors"))
            .toList(),
        allowed);
    KubernetesClient client = cluster.as(allowed.namespace(), "limited");
    var operator = OperatorUnderTest.on(client, allowed, forbidden);
    try (var process = new OperatorProcess(operator, client)) {
      process.run();
      forbidden.awaitPicker("mine", "Monitored", "False/NoPodMonitors");
      forbidden.awaitPool("Accepted", "True/Accepted");
      await().atMost(SEEN).until(() -> monitor(cluster, allowed) != null);
      await()
          .untilAsserted(
              () -> assertThat(allowed.pickerConditions("mine")).doesNotContainKey("Monitored"));
      assertThat(monitor(cluster, forbidden)).isNull();
    }
  }

  /** That an answer comes late says nothing of what is there. */
  @Test
  void whileNothingIsKnownOfTheKindNothingNewIsSaidOfIt() throws IOException {
    Installed cluster = Installed.on(server);
    PoolFixture pool = monitored(cluster, "silent");
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.awaitPicker("mine", "Monitored", "False/NoPodMonitors");
      await().until(() -> toldOfNoMonitors(pool).contains("mine"));
    }
    pool.create(MONITORED.replace("mine", "late").replace("{name: pool}", "{name: second}"));
    pool.createPool("second", "second-service");
    try (Silent silent = new Silent("podmonitors");
        KubernetesClient client = silent.operator(cluster);
        var _ =
            new OperatorUnderTest(
                cluster, pool, OperatorUnderTest.settings(true), InstantSource.system(), client)) {
      await()
          .atMost(SEEN)
          .untilAsserted(
              () ->
                  assertThat(pool.pickerConditions("late"))
                      .containsEntry("Accepted", "True/Accepted"));
      assertThat(pool.pickerConditions("mine")).as("as said before").containsKey("Monitored");
      await()
          .atMost(SEEN)
          .untilAsserted(
              () ->
                  assertThat(pool.pickerConditions("late"))
                      .containsEntry("Monitored", "False/APIServerError"));
      await()
          .until(
              () ->
                  pool.all(Event.class).stream()
                      .filter(event -> event.getInvolvedObject().getName().equals("late"))
                      .anyMatch(event -> event.getReason().equals("APIServerError")));
      assertThat(toldOfNoMonitors(pool)).containsOnlyOnce("mine").doesNotContain("late", "second");
    }
  }

  /** Names of objects. */
  private static List<String> toldOfNoMonitors(PoolFixture pool) {
    return pool.all(Event.class).stream()
        .filter(event -> event.getReason().equals("NoPodMonitors"))
        .map(event -> event.getInvolvedObject().getName())
        .toList();
  }

  private static PoolFixture monitored(Installed cluster, String prefix) {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace(prefix));
    pool.create(MONITORED);
    pool.createPool();
    return pool;
  }

  private static void role(PoolFixture pool, List<PolicyRule> rules, PoolFixture account) {
    pool.create(
        new RoleBuilder()
            .withNewMetadata()
            .withName("limited")
            .endMetadata()
            .withRules(rules)
            .build());
    pool.create(
        new RoleBindingBuilder()
            .withNewMetadata()
            .withName("limited")
            .endMetadata()
            .withNewRoleRef("rbac.authorization.k8s.io", "Role", "limited")
            .addNewSubject()
            .withKind("ServiceAccount")
            .withName("limited")
            .withNamespace(account.namespace())
            .endSubject()
            .build());
  }

  /** Requests are served without a monitor, and what is left over is not wanted for that. */
  @Test
  void whatIsLeftOverGoesAlsoWhereTheMonitorIsRefused() {
    Installed cluster = Installed.on(server);
    Crds.podMonitors(cluster.admin());
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("refused"));
    List<HasMetadata> policy =
        cluster.refuse(pool.namespace(), "CREATE", "monitoring.coreos.com", "podmonitors");
    GenericKubernetesResource any =
        Serialization.unmarshal(
            """
            apiVersion: monitoring.coreos.com/v1
            kind: PodMonitor
            metadata: {name: any, namespace: %s}
            spec: {selector: {}, podMetricsEndpoints: [{port: http-metrics}]}
            """
                .formatted(pool.namespace()),
            GenericKubernetesResource.class);
    cluster.awaitRefused(operator -> operator.resource(any).dryRun().create());
    pool.create(
        """
        apiVersion: fairlead.io/v1alpha1
        kind: EndpointPicker
        metadata: {name: mine}
        spec: {poolRef: {name: pool}, networkPolicy: {}}
        """);
    pool.createPool();
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> pool.get(Deployment.class, PoolFixture.PICKER) != null);
      assertThat(pool.get(NetworkPolicy.class, PoolFixture.PICKER)).isNotNull();
      cluster
          .admin()
          .resource(pool.need(EndpointPicker.class, "mine"))
          .patch(MERGE, "{\"spec\":{\"networkPolicy\":null,\"monitoring\":{\"podMonitor\":{}}}}");
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  !pool.need(Deployment.class, PoolFixture.PICKER)
                      .getSpec()
                      .getTemplate()
                      .getMetadata()
                      .getLabels()
                      .containsKey("fairlead.io/network-policy"));
      pool.becomeAvailableAgain();
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> pool.get(NetworkPolicy.class, PoolFixture.PICKER) == null);
      pool.awaitPicker("mine", "Monitored", "False/ObjectNotApplied");
    } finally {
      policy.forEach(object -> cluster.admin().resource(object).delete());
    }
  }

  private static String spec(Installed cluster, PoolFixture pool) {
    GenericKubernetesResource monitor = monitor(cluster, pool);
    Map<String, Object> spec = monitor == null ? Map.of() : monitor.get("spec");
    return String.valueOf(spec);
  }

  private static @Nullable GenericKubernetesResource monitor(Installed cluster, PoolFixture pool) {
    return cluster
        .admin()
        .genericKubernetesResources("monitoring.coreos.com/v1", "PodMonitor")
        .inNamespace(pool.namespace())
        .withName(PoolFixture.PICKER)
        .get();
  }
}
