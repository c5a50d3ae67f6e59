package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.Outage;
import io.fairlead.operator.testing.PoolFixture;
import io.fairlead.operator.testing.TestRoles;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
  void aRoleThatMayNotBeBoundIsToldAsAMissingPermission() {
    try (var _ = TestRoles.without(cluster, "clusterroles");
        var _ = new OperatorUnderTest(cluster, allowed, true)) {
      allowed.createPool();
      allowed.awaitPool("Programmed", "False/PermissionDenied");
      assertThat(allowed.poolMessage("Programmed"))
          .contains(
              "RoleBinding " + allowed.namespace() + "/pool-epp", "verb bind", "fairlead-epp");
    }
  }

  /**
   * Those of what each pool has; of a Service, as of a ConfigMap and an account, one rule has it.
   */
  @ParameterizedTest
  @CsvSource({
    "services, create",
    "services, patch",
    "deployments, create",
    "deployments, patch",
    "poddisruptionbudgets, create",
    "poddisruptionbudgets, patch",
    "rolebindings, create",
    "rolebindings, patch",
  })
  void eachVerbThatIsMissingIsNamedAndUsedOnceItIsThere(String resource, String verb) {
    String lacks = "cannot %s resource \"%s\"".formatted(verb, resource);
    try (TestRoles.Taken taken = TestRoles.withoutVerb(cluster, resource, verb);
        var _ = new OperatorUnderTest(cluster, allowed, true)) {
      allowed.createPicker("mine", "{name: pool}");
      allowed.createPool();
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(allowed.entry(PoolFixture.POOL))
                      .filteredOn(one -> one.getReason().equals("PermissionDenied"))
                      .extracting(Condition::getMessage)
                      .anyMatch(
                          message -> message.contains(lacks) && message.contains("; grant it")));
      taken.giveBack();
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(allowed.poolConditions())
                      .containsEntry("Ready", "False/RolloutInProgress")
                      .doesNotContainKey("AvailabilityGuarded"));
    }
  }

  /** An autoscaler that stays would go on deciding how many pods run. */
  @Test
  void whatMayNotBeDeletedIsToldUntilItMay() {
    try (TestRoles.Taken delete =
            TestRoles.withoutVerb(cluster, "horizontalpodautoscalers", "delete");
        var _ = new OperatorUnderTest(cluster, allowed, true)) {
      allowed.createPool();
      allowed.create(
          """
          apiVersion: fairlead.io/v1alpha1
          kind: EndpointPicker
          metadata: {name: mine}
          spec:
            poolRef: {name: pool}
            autoscaling: {minReplicas: 2, maxReplicas: 6}
          """);
      await().until(() -> allowed.get(HorizontalPodAutoscaler.class, "pool-epp") != null);

      cluster
          .admin()
          .resource(allowed.need(EndpointPicker.class, "mine"))
          .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"autoscaling\":null}}");
      allowed.awaitPicker("mine", "AvailabilityGuarded", "False/PermissionDenied");
      assertThat(allowed.pickerMessage("mine", "AvailabilityGuarded"))
          .contains(
              "HorizontalPodAutoscaler " + allowed.namespace() + "/pool-epp",
              "cannot delete",
              "grant");

      delete.giveBack();
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () -> {
                assertThat(allowed.get(HorizontalPodAutoscaler.class, "pool-epp")).isNull();
                assertThat(allowed.pickerConditions("mine"))
                    .doesNotContainKey("AvailabilityGuarded");
              });
    }
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
    forbidPods();
    forbidden.createPool();
    forbidden.createModel("chat", "chat", 90);
    try (OperatorProcess _ = start()) {
      forbidden.awaitPool("Ready", "False/PermissionDenied");
      assertThat(forbidden.poolMessage("Programmed"))
          .contains("cannot list resource \"pods\"", forbidden.namespace(), "grant");
      forbidden.awaitModel("chat", "Ready", "False/PermissionDenied");
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

  /** Of a pool that is served whatever these are, and would have no status at all. */
  @ParameterizedTest
  @ValueSource(strings = {"endpointpickers", "services"})
  void whoMayNotSeeWhatDecidesOfAPoolSaysSoOfPoolsThatAreSurelyServed(String resource) {
    forbid(resource, forbidden.namespace());
    forbidden.createPicker("mine", "{name: pool}");
    forbidden.createPool();
    try (OperatorProcess _ = start()) {
      forbidden.awaitPool("Ready", "False/PermissionDenied");
      assertThat(forbidden.poolMessage("Programmed"))
          .contains("cannot list resource \"%s\"".formatted(resource), "grant");
      assertThat(forbidden.get(Deployment.class, PoolFixture.PICKER))
          .as("not with defaults")
          .isNull();
      unbind(forbidden.namespace());
      bind(forbidden.namespace(), "ClusterRole", "fairlead-operator");
      forbidden.awaitPickerCarriedOut();
      forbidden.awaitPool("Ready", "False/RolloutInProgress");
    }
  }

  /** Then no pool is known, and what names one is all that can be told. */
  @Test
  void whoMayNotSeePoolsSaysSoOfWhatNamesThem() {
    forbid("inferencepools", forbidden.namespace());
    forbidden.createPicker("mine", "{name: pool}");
    forbidden.createModel("chat", "chat", 90);
    forbidden.createPool();
    try (OperatorProcess _ = start()) {
      forbidden.awaitPicker("mine", "Ready", "False/PermissionDenied");
      forbidden.awaitModel("chat", "Ready", "False/PermissionDenied");
      for (String told :
          List.of(
              forbidden.pickerMessage("mine", "Ready"), forbidden.modelMessage("chat", "Ready"))) {
        assertThat(told).contains("cannot list resource \"inferencepools\"", "grant");
      }
      unbind(forbidden.namespace());
      bind(forbidden.namespace(), "ClusterRole", "fairlead-operator");
      forbidden.awaitPicker("mine", "Ready", "False/RolloutInProgress");
      forbidden.awaitModel("chat", "Accepted", "True/Accepted");
    }
  }

  /** What is known stays; but edits have no effect any more, and nobody would know why. */
  @Test
  void aPermissionThatIsTakenAwayLaterIsNamed() {
    allowed.createPool();
    allowed.createModel("chat", "chat", 90);
    try (Outage way = new Outage(cluster.admin().getConfiguration());
        OperatorProcess _ =
            start(
                new KubernetesClientBuilder()
                    .withConfig(way.through(cluster.account(allowed.namespace(), ACCOUNT)))
                    .build())) {
      allowed.awaitModel("chat", "Accepted", "True/Accepted");
      takeAway("inference.networking.x-k8s.io", "inferencemodels");
      way.begin();
      way.end();
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () ->
                  assertThat(allowed.poolConditions())
                      .containsEntry("Programmed", "False/PermissionDenied")
                      .containsEntry("ModelsAccepted", "True/AllAccepted"));
      assertThat(allowed.poolMessage("Programmed"))
          .contains("cannot list resource \"inferencemodels\"");
      unbind(allowed.namespace());
      bind(allowed.namespace(), "ClusterRole", "fairlead-operator");
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () ->
                  assertThat(allowed.poolConditions())
                      .containsEntry("Ready", "False/RolloutInProgress"));
    }
  }

  /** A list is allowed still, so that nobody is told by one why nothing changes any more. */
  @Test
  void aWatchThatAloneIsTakenAwayIsNamed() {
    allowed.createPool();
    try (Outage way = new Outage(cluster.admin().getConfiguration());
        OperatorProcess _ =
            start(
                new KubernetesClientBuilder()
                    .withConfig(way.through(cluster.account(allowed.namespace(), ACCOUNT)))
                    .build())) {
      allowed.awaitPool("Accepted", "True/Accepted");
      takeAway(
          "inference.networking.x-k8s.io",
          "inferencemodels",
          new PolicyRuleBuilder()
              .withApiGroups("inference.networking.x-k8s.io")
              .withResources("inferencemodels")
              .withVerbs("get", "list")
              .build());
      way.begin();
      way.end();
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () ->
                  assertThat(allowed.poolConditions())
                      .containsEntry("Programmed", "False/PermissionDenied"));
      assertThat(allowed.poolMessage("Programmed"))
          .contains("cannot watch resource \"inferencemodels\"", "grant");
    }
  }

  /** It can't be told from one that is not seen, so what it asked for stays, and that is told. */
  @Test
  void aPickerThatIsLostWhileItsKindIsListedAloneIsTold() {
    allowed.createPicker("mine", "{name: pool}");
    allowed.createPool();
    try (OperatorProcess _ = start()) {
      allowed.awaitPickerCarriedOut();
      allowed.awaitPool("Ready", "False/RolloutInProgress");
    }
    allowed.delete(EndpointPicker.class, "mine");
    takeAway(
        "fairlead.io",
        "endpointpickers",
        new PolicyRuleBuilder()
            .withApiGroups("fairlead.io")
            .withResources("endpointpickers")
            .withVerbs("get", "list")
            .build());
    try (OperatorProcess _ = start()) {
      allowed.awaitPool("Programmed", "False/PermissionDenied");
      assertThat(allowed.poolMessage("Programmed"))
          .contains("cannot watch resource \"endpointpickers\"", "grant");
      assertThat(allowed.pickerImage()).as("as it was asked for").isEqualTo("example.test/own:2");
      unbind(allowed.namespace());
      bind(allowed.namespace(), "ClusterRole", "fairlead-operator");
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () -> assertThat(allowed.pickerImage()).isEqualTo(OperatorUnderTest.IMAGE));
      allowed.awaitPool("Ready", "False/RolloutInProgress");
    }
  }

  /** Their own edits have no effect any more; what else concerns them is seen. */
  @Test
  void poolsThatAreSeenNoMoreSaySo() {
    allowed.createPool();
    try (Outage way = new Outage(cluster.admin().getConfiguration());
        OperatorProcess _ =
            start(
                new KubernetesClientBuilder()
                    .withConfig(way.through(cluster.account(allowed.namespace(), ACCOUNT)))
                    .build())) {
      allowed.awaitPool("Accepted", "True/Accepted");
      takeAway("inference.networking.k8s.io", "inferencepools");
      way.begin();
      way.end();
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () ->
                  assertThat(allowed.poolConditions())
                      .containsEntry("Programmed", "False/PermissionDenied"));
      assertThat(allowed.poolMessage("Programmed"))
          .contains("cannot list resource \"inferencepools\"");
      unbind(allowed.namespace());
      bind(allowed.namespace(), "ClusterRole", "fairlead-operator");
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () ->
                  assertThat(allowed.poolConditions())
                      .containsEntry("Ready", "False/RolloutInProgress"));
    }
  }

  /**
   * Takes the right to watch a resource, and waits until the API server goes by that: a watch that
   * it opens before goes on.
   *
   * @param instead what is still allowed of it
   */
  private void takeAway(String group, String resource, PolicyRule... instead) {
    unbind(allowed.namespace());
    forbid(resource, allowed.namespace(), instead);
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> !mayWatch(group, resource) && mayWatch("", "services"));
  }

  private boolean mayWatch(String group, String resource) {
    return cluster
        .admin()
        .resource(
            new SubjectAccessReviewBuilder()
                .withNewSpec()
                .withUser("system:serviceaccount:" + allowed.namespace() + ":" + ACCOUNT)
                .withNewResourceAttributes()
                .withNamespace(allowed.namespace())
                .withGroup(group)
                .withResource(resource)
                .withVerb("watch")
                .endResourceAttributes()
                .endSpec()
                .build())
        .create()
        .getStatus()
        .getAllowed();
  }

  private void unbind(String namespace) {
    cluster.admin().rbac().roleBindings().inNamespace(namespace).withName(ACCOUNT).delete();
  }

  /** What is denied is denied to all pools of a namespace alike. */
  @Test
  void itIsAskedOnceForAllPoolsWhatIsDenied() {
    forbidPods();
    List<String> pools = List.of("a", "b", "c", "d", "e", "f");
    pools.forEach(pool -> forbidden.createPool(pool, pool + "-service"));
    AtomicInteger asked = new AtomicInteger();
    Config account = cluster.account(allowed.namespace(), ACCOUNT);
    account.setRequestRetryBackoffLimit(0); // each look is counted once
    KubernetesClient client =
        new KubernetesClientBuilder()
            .withConfig(account)
            .withHttpClientBuilderConsumer(
                http -> http.addOrReplaceInterceptor("asked", new Asked(asked)))
            .build();
    long started = System.nanoTime();
    try (OperatorProcess _ = start(client)) {
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(pools)
                      .allSatisfy(
                          pool ->
                              assertThat(PoolFixture.brief(forbidden.entry(pool)))
                                  .containsEntry("Ready", "False/PermissionDenied")));
      int times = asked.get();
      long seconds = Duration.ofNanos(System.nanoTime() - started).toSeconds();
      assertThat(times).isBetween(1, 1 + (int) seconds / 5);
    }
  }

  /** Counts looks at one pod of the namespace: informers want all. */
  private record Asked(AtomicInteger times) implements Interceptor {
    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
      String uri = request.uri().toString();
      if (uri.contains("/pods?") && uri.contains("limit=1")) {
        times.incrementAndGet();
      }
    }
  }

  private void forbidPods() {
    forbid("pods", forbidden.namespace());
  }

  private void forbid(String resource, String namespace, PolicyRule... instead) {
    ClusterRole all = cluster.admin().rbac().clusterRoles().withName("fairlead-operator").get();
    List<PolicyRule> rules =
        Stream.concat(
                all.getRules().stream().filter(rule -> !rule.getResources().contains(resource)),
                Stream.of(instead))
            .toList();
    cluster
        .admin()
        .resource(
            new RoleBuilder()
                .withNewMetadata()
                .withName(ACCOUNT)
                .withNamespace(namespace)
                .endMetadata()
                .withRules(rules)
                .build())
        .create();
    bind(namespace, "Role", ACCOUNT);
  }

  private OperatorProcess start() {
    return start(cluster.as(allowed.namespace(), ACCOUNT));
  }

  private OperatorProcess start(KubernetesClient client) {
    OperatorProcess process =
        new OperatorProcess(OperatorUnderTest.on(client, allowed, forbidden), client);
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
