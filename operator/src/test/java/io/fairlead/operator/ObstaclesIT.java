package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.PICKER;
import static io.fairlead.operator.testing.PoolFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.reconcile.Settings;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.Picker;
import io.fairlead.operator.testing.PoolFixture;
import io.fairlead.operator.testing.RefusingWebhook;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What keeps requests from being served is told with a next step, and all of it at once. */
@ExtendWith(KubeApi.class)
@Makes({
  Reason.INVALID_SPEC,
  Reason.API_SERVER_ERROR,
  Reason.OBJECT_NOT_APPLIED,
  Reason.CONFIG_NOT_REPORTED
})
class ObstaclesIT {
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);
  private static final String ONLY_THE_PICKER_KNOWS =
      "{\"plugins\":[{\"type\":\"queue-scorer\"}],\"schedulingProfiles\":[{\"name\":\"a\"},{\"name\":\"b\"}]}";

  private static Installed cluster;
  private static String kubeConfig;

  private PoolFixture pool;
  private OperatorUnderTest operator;

  @BeforeAll
  static void install(KubeApi.Running server) {
    cluster = Installed.on(server);
    kubeConfig = server.kubeConfig();
  }

  @BeforeEach
  void start() {
    pool = new PoolFixture(cluster.admin(), cluster.namespace("obstacles"));
    operator = new OperatorUnderTest(cluster, pool, true);
  }

  @AfterEach
  void stop() {
    operator.close();
    cluster.admin().resource(webhook("deployments", "apps")).delete();
    cluster.admin().resource(webhook("services", "")).delete();
  }

  @Test
  void aForeignAccountAndAScaleOfZeroAreToldTogether() {
    pool.create("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: pool-epp}\n");
    pool.createPicker("mine", "{name: pool}");
    patchPicker("{\"spec\":{\"replicas\":0}}");
    pool.createPool();
    awaitPoolMessage("Ready", "ServiceAccount " + pool.namespace() + "/pool-epp is not ours");
    awaitPoolMessage("Ready", "scaled to 0; set spec.replicas");
    assertThat(pool.poolMessage("Ready")).doesNotContain("wait for it");
  }

  @Test
  void aServiceThatIsNotThereIsNotCalledProvided() {
    pool.create(
        """
        apiVersion: inference.networking.k8s.io/v1
        kind: InferencePool
        metadata: {name: pool}
        spec:
          selector: {matchLabels: {"no key": vllm}}
          targetPorts: [{number: 8000}]
          endpointPickerRef: {name: picker-service, port: {number: 9002}}
        """);
    pool.awaitPool("Accepted", "False/InvalidSpec");
    pool.awaitPool("ResolvedRefs", "Unknown/Pending");
    assertThat(pool.poolMessage("ResolvedRefs")).contains("picker-service", "condition Accepted");
    assertThat(pool.get(Service.class, "picker-service")).isNull();

    cluster
        .admin()
        .resource(pool.need(InferencePool.class, PoolFixture.POOL))
        .patch(
            MERGE,
            "{\"spec\":{\"selector\":{\"matchLabels\":{\"no key\":null,\"app\":\"vllm\"}}}}");
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
    await().until(() -> pool.get(Service.class, "picker-service") != null);
  }

  @Test
  void aPickerWithoutModelServersIsNotSaidToServe() {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.awaitPool("Ready", "False/RolloutInProgress");
    pool.awaitPickerCarriedOut();
    pool.becomeAvailable();
    try (Picker _ = new Picker(cluster, pool)) {
      pool.awaitModel("chat", "Ready", "False/NoMatchingPods");
      awaitPoolMessage("Ready", PICKER + " runs, but has no endpoint");

      patchPicker("{\"spec\":{\"scheduling\":" + ONLY_THE_PICKER_KNOWS + "}}");
      pool.awaitPicker("mine", "Programmed", "False/ConfigRejected");
      // Models take effect under the scheduling before.
      pool.createModel("sum", "sum", 10);
      pool.awaitModel("sum", "Programmed", "True/Programmed");
      pool.awaitModel("sum", "Ready", "False/NoMatchingPods");
      assertThat(pool.modelMessage("sum", "Ready")).contains("start model servers");
    }
  }

  @Test
  void aWebhookThatFailsIsToldAndWhatItKeptBackComesWhenItIsWell() {
    failAt("deployments", "apps");
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.awaitPool("Programmed", "False/APIServerError");
    Duration told = untilTold("Programmed");
    assertThat(pool.poolMessage("Programmed"))
        .startsWith("Deployment %s/pool-epp is not as it should be".formatted(pool.namespace()))
        .contains("failing.example.test");
    pool.awaitPool("Ready", "False/APIServerError");
    pool.awaitModel("chat", "Programmed", "False/EPPUnavailable");
    assertThat(pool.config()).as("all else is there").isNotEmpty();
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
    // Two seconds are promised, on a machine that is not busy with other tests. The client's own
    // tries would take a minute and a half.
    assertThat(told).isLessThan(Duration.ofSeconds(20));

    cluster.admin().resource(webhook("deployments", "apps")).delete();
    await().atMost(Duration.ofSeconds(30)).until(() -> pool.get(Deployment.class, PICKER) != null);
    pool.awaitPool("Ready", "False/RolloutInProgress");
  }

  /** From the pool's creation to the condition, whenever it is looked at here. */
  private Duration untilTold(String type) {
    Condition condition =
        pool.entry(PoolFixture.POOL).stream()
            .filter(one -> one.getType().equals(type))
            .findFirst()
            .orElseThrow();
    String created =
        pool.need(InferencePool.class, PoolFixture.POOL).getMetadata().getCreationTimestamp();
    return Duration.between(
        Instant.parse(created), Instant.parse(condition.getLastTransitionTime()));
  }

  /** As those do that want to be asked again later: a conflict, or too many requests. */
  @ParameterizedTest
  @ValueSource(ints = {409, 429})
  void aWebhookThatPutsOffForEverIsToldAndTheRestServes(int code, @TempDir Path folder)
      throws IOException, GeneralSecurityException {
    try (RefusingWebhook refusing = RefusingWebhook.start(folder, code)) {
      failAt("deployments", "apps", refusing.url(), refusing.certificate());
      pool.createPool();
      pool.createModel("chat", "chat", 90);
      pool.awaitPool("Programmed", "False/APIServerError");
      awaitPoolMessage("Programmed", "not now");
      assertThat(pool.poolMessage("Programmed"))
          .startsWith("Deployment %s/pool-epp is not as it should be".formatted(pool.namespace()))
          .contains("failing.example.test", Integer.toString(code));
      pool.awaitModel("chat", "Programmed", "False/EPPUnavailable");
      pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
    }
    cluster.admin().resource(webhook("deployments", "apps")).delete();
    await().atMost(Duration.ofSeconds(30)).until(() -> pool.get(Deployment.class, PICKER) != null);
    pool.awaitPool("Ready", "False/RolloutInProgress");
  }

  /** As where it names the port that a connection came from: each text would be a write. */
  @Test
  void whatIsSaidInOtherWordsEachTimeIsNotWrittenEachTime(@TempDir Path folder)
      throws IOException, GeneralSecurityException {
    pool.createPool();
    pool.becomeReady();
    AtomicInteger asked = new AtomicInteger();
    try (RefusingWebhook refusing =
        RefusingWebhook.start(
            folder, 500, () -> "read from port " + (40_000 + asked.incrementAndGet()))) {
      failAt("services", "", refusing.url(), refusing.certificate());
      AuditLog.Mark mark = operator.mark();
      long begun = System.nanoTime();
      cluster
          .admin()
          .resource(pool.need(InferencePool.class, PoolFixture.POOL))
          .patch(MERGE, "{\"spec\":{\"endpointPickerRef\":{\"port\":{\"number\":9100}}}}");
      pool.awaitPool("ResolvedRefs", "False/APIServerError");
      int told = asked.get();
      // The longer it fails, the longer the pauses.
      await().atMost(Duration.ofMinutes(3)).until(() -> asked.get() >= told + 6);
      await()
          .untilAsserted(
              () ->
                  assertThat(operator.requests(mark))
                      .filteredOn(request -> request.resource().equals("services"))
                      .hasSizeGreaterThanOrEqualTo(6));
      // Other words are told again once a minute.
      int minutes = (int) Duration.ofNanos(System.nanoTime() - begun).toMinutes();
      assertThat(operator.requests(mark))
          .filteredOn(AuditLog.Request::writes)
          .filteredOn(request -> request.resource().startsWith("inferencepools"))
          .hasSizeBetween(1, 3 + minutes);
    }
    cluster.admin().resource(webhook("services", "")).delete();
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
  }

  /** The API server gives it longer than clients usually wait, and says then that it failed. */
  @Test
  void aWebhookThatHangsIsTold(@TempDir Path folder) throws IOException, GeneralSecurityException {
    List<String> asked = new CopyOnWriteArrayList<>();
    try (RefusingWebhook hanging = RefusingWebhook.hanging(folder, asked::add)) {
      hangAt(hanging, 12, asked);
      pool.createPool();
      pool.createModel("chat", "chat", 90);
      await()
          .atMost(Duration.ofMinutes(1))
          .untilAsserted(
              () ->
                  assertThat(pool.poolConditions())
                      .containsEntry("Programmed", "False/APIServerError")
                      .containsEntry("Ready", "False/APIServerError"));
      assertThat(asked)
          .filteredOn(PICKER::equals)
          .as("the first answer, after 12 s, is told; the next try may have begun")
          .hasSizeLessThanOrEqualTo(2);
      assertThat(pool.poolMessage("Programmed"))
          .startsWith("Deployment %s/pool-epp is not as it should be".formatted(pool.namespace()))
          .contains("failing.example.test");
      pool.awaitModel("chat", "Programmed", "False/EPPUnavailable");
      cluster.admin().resource(webhook("deployments", "apps")).delete();
    }
    await().atMost(Duration.ofSeconds(60)).until(() -> pool.get(Deployment.class, PICKER) != null);
    pool.awaitPool("Ready", "False/RolloutInProgress");
  }

  /** As where several hang one after the other: the API server gives each its time. */
  @Test
  void anApiServerThatGivesNoAnswerIsTold(@TempDir Path folder)
      throws IOException, GeneralSecurityException {
    // Longer than a busy machine takes for what nothing keeps back.
    restart(Paces.usualBut(pace -> pace.writes = Duration.ofSeconds(5)));
    List<String> asked = new CopyOnWriteArrayList<>();
    try (RefusingWebhook hanging = RefusingWebhook.hanging(folder, asked::add)) {
      hangAt(hanging, 30, asked);
      pool.createPool();
      pool.awaitPool("Programmed", "False/APIServerError");
      assertThat(asked)
          .filteredOn(PICKER::equals)
          .as("the client asks once; the operator's next try may have begun")
          .hasSizeLessThanOrEqualTo(2);
      awaitPoolMessage(
          "Programmed",
          "Deployment %s/pool-epp is not as it should be: the API server gave no answer within 5 s"
              .formatted(pool.namespace()));
      awaitPoolMessage("Programmed", "see to the webhooks");
      pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
      cluster.admin().resource(webhook("deployments", "apps")).delete();
    }
    await().atMost(Duration.ofSeconds(60)).until(() -> pool.get(Deployment.class, PICKER) != null);
    pool.awaitPool("Ready", "False/RolloutInProgress");
  }

  /** From here on this webhook is asked, and given this many seconds. */
  private void hangAt(RefusingWebhook hanging, int seconds, List<String> asked) {
    ValidatingWebhookConfiguration configuration = webhook("deployments", "apps");
    configuration.getWebhooks().getFirst().setTimeoutSeconds(seconds);
    WebhookClientConfig client = configuration.getWebhooks().getFirst().getClientConfig();
    client.setUrl(hanging.url());
    client.setCaBundle(hanging.certificate());
    cluster.admin().resource(configuration).create();
    Config config = Config.fromKubeconfig(kubeConfig);
    config.setRequestRetryBackoffLimit(0);
    config.setRequestTimeout(1000);
    try (KubernetesClient impatient = new KubernetesClientBuilder().withConfig(config).build()) {
      await()
          .atMost(Duration.ofSeconds(30))
          .ignoreException(KubernetesClientException.class)
          .until(
              () -> {
                if (asked.isEmpty()) {
                  dryRun(impatient, "apps");
                }
                return !asked.isEmpty();
              });
    }
  }

  private void dryRun(KubernetesClient client, String group) {
    client
        .load(new ByteArrayInputStream(probe(group).getBytes(StandardCharsets.UTF_8)))
        .inNamespace(pool.namespace())
        .dryRun(true)
        .create();
  }

  /** The ports of a Service are replaced where they can't be applied, which it refuses, too. */
  @Test
  void aWebhookThatPutsOffTheRepairOfPortsIsTold(@TempDir Path folder)
      throws IOException, GeneralSecurityException {
    pool.createPool();
    pool.becomeReady();
    try (RefusingWebhook refusing = RefusingWebhook.start(folder, 422)) {
      failAt("services", "", refusing.url(), refusing.certificate());
      cluster
          .admin()
          .resource(pool.need(InferencePool.class, PoolFixture.POOL))
          .patch(MERGE, "{\"spec\":{\"endpointPickerRef\":{\"port\":{\"number\":9100}}}}");
      awaitPoolMessage("ResolvedRefs", "not now");
      assertThat(pool.poolMessage("ResolvedRefs")).contains("see to that webhook or policy");
      pool.createModel("chat", "chat", 90);
      await().until(() -> pool.config().contains("chat"));
    }
    cluster.admin().resource(webhook("services", "")).delete();
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
  }

  @Test
  void whatIsInForceGoesOnWhileItsRepairFails() {
    pool.createPool();
    pool.becomeReady();
    failAt("services", "");
    cluster
        .admin()
        .resource(pool.need(InferencePool.class, PoolFixture.POOL))
        .patch(MERGE, "{\"spec\":{\"endpointPickerRef\":{\"port\":{\"number\":9100}}}}");
    pool.createModel("chat", "chat", 90);
    pool.awaitPool("ResolvedRefs", "False/APIServerError");
    await().until(() -> pool.config().contains("chat"));

    cluster.admin().resource(webhook("services", "")).delete();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                pool.need(Service.class, "picker-service")
                    .getSpec()
                    .getPorts()
                    .getFirst()
                    .getPort()
                    .equals(9100));
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
  }

  @Test
  void aQuotaIsToldAndWhatItKeptBackComesWhenItIsLifted() {
    allowNone("count/deployments.apps");
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.awaitPool("Ready", "False/EPPUnavailable");
    awaitPoolMessage("Ready", "exceeded quota: none");
    assertThat(pool.poolMessage("Ready")).contains("raise that ResourceQuota");
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
    pool.awaitModel("chat", "Accepted", "True/Accepted");

    pool.delete(ResourceQuota.class, "none");
    await().atMost(Duration.ofSeconds(30)).until(() -> pool.get(Deployment.class, PICKER) != null);
    pool.awaitPool("Ready", "False/RolloutInProgress");
  }

  /** The name is free, and nothing has to be deleted or named otherwise for it. */
  @Test
  void aQuotaThatRefusesTheServiceIsNotTakenForAWrongReference() {
    allowNone("services");
    pool.createPool();
    pool.awaitPool("ResolvedRefs", "False/EPPUnavailable");
    assertThat(pool.poolMessage("ResolvedRefs"))
        .contains("Service %s/picker-service is refused".formatted(pool.namespace()))
        .contains("exceeded quota: none", "raise that ResourceQuota");
    pool.awaitPool("Ready", "False/EPPUnavailable");

    pool.delete(ResourceQuota.class, "none");
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
  }

  private void allowNone(String counted) {
    Map<String, Quantity> none = Map.of(counted, new Quantity("0"));
    ResourceQuota quota =
        new ResourceQuotaBuilder()
            .withNewMetadata()
            .withName("none")
            .withNamespace(pool.namespace())
            .endMetadata()
            .withNewSpec()
            .withHard(none)
            .endSpec()
            .build();
    pool.create(quota);
    // The part of the controller that counts.
    cluster
        .admin()
        .resource(
            new ResourceQuotaBuilder(pool.need(ResourceQuota.class, "none"))
                .withNewStatus()
                .withHard(none)
                .withUsed(none)
                .endStatus()
                .build())
        .updateStatus();
    // It is in force a moment later; what was refused for another reason is tried again long after.
    awaitRefusal(cluster.admin(), counted.equals("services") ? "" : "apps", "exceeded quota: none");
  }

  /** It does not end, and nothing changes that would have it looked at: its time is up. */
  @Test
  void aPickerThatRunsAndDoesNotBecomeReadyIsTold() {
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.awaitPool("Ready", "False/RolloutInProgress");
    Instant began = Instant.now().minusSeconds(8);
    pool.unreadyPod(POD, began);
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(pool.poolConditions())
                    .containsEntry("Ready", "False/ContainersNotReady"));
    assertThat(began)
        .as("not while it may just be starting")
        .isBefore(Instant.now().minusSeconds(12));
    assertThat(pool.poolMessage("Ready"))
        .contains(
            "kubectl logs epp-1 -c epp --namespace " + pool.namespace(),
            "whether it reaches the API server",
            "ClusterRole fairlead-epp");
    pool.awaitModel("chat", "Ready", "Unknown/Pending");
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> pool.modelMessage("chat", "Ready").contains("kubectl logs epp-1 -c epp"));

    pool.delete(Pod.class, POD);
    pool.becomeAvailable();
    pool.reportCurrent();
    pool.awaitPool("Ready", "True/Ready");
    pool.awaitModel("chat", "Ready", "True/Ready");
  }

  /** Waiting helps nothing where a pod may not write its Lease. */
  @Test
  void aPodThatNeverReportsIsNotWaitedForWithoutEnd() {
    // What is said while it is waited for would be gone on a machine that stands still so long.
    restart(Paces.usualBut(pace -> pace.reports = Duration.ofHours(1)));
    pool.createPool();
    pool.awaitPool("Ready", "False/RolloutInProgress");
    pool.becomeAvailable();
    pool.awaitPool("Programmed", "Unknown/Pending");
    awaitPoolMessage("Programmed", "has reported the config yet; wait for it");
    restart(Paces.usualBut(pace -> pace.reports = Duration.ofSeconds(3)));
    pool.awaitPool("Programmed", "False/ConfigNotReported");
    pool.awaitPool("Ready", "False/ConfigNotReported");
    assertThat(pool.poolMessage("Programmed"))
        .contains("kubectl logs epp-1", "ServiceAccount pool-epp");
    pool.reportCurrent();
    pool.awaitPool("Ready", "True/Ready");
  }

  /** It is cut off, and what it said last is no news of what it serves now. */
  @Test
  void aPodThatRenewsItsReportNoMoreIsTold() {
    restart(Paces.usualBut(pace -> pace.silence = Duration.ofSeconds(3)));
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.becomeReady();
    pool.renewReport();
    pool.awaitPool("Programmed", "False/ConfigNotReported");
    pool.awaitPool("Ready", "False/ConfigNotReported");
    pool.awaitModel("chat", "Programmed", "False/EPPUnavailable");
    pool.awaitModel("chat", "Ready", "False/EPPUnavailable");
    assertThat(pool.poolMessage("Ready"))
        .contains(
            "Pod epp-1 is ready",
            "whether it reaches the API server",
            "kubectl rollout restart deployment/pool-epp --namespace " + pool.namespace());
    await()
        .atMost(Duration.ofMinutes(1))
        .pollInterval(Duration.ofSeconds(1))
        .until(
            () -> {
              pool.renewReport();
              return "True/Ready".equals(pool.poolConditions().get("Ready"));
            });
  }

  /** A config that changes more often than it may be late must not make it look in time. */
  @Test
  void aPodThatNeverReportsIsToldAlsoWhereModelsAreEditedAllTheWhile() {
    restart(Paces.usualBut(pace -> pace.reports = Duration.ofSeconds(6)));
    pool.createPool();
    pool.createModel("chat", "chat", 1);
    pool.awaitPool("Ready", "False/RolloutInProgress");
    pool.becomeAvailable();
    AtomicInteger weight = new AtomicInteger(1);
    await()
        .atMost(Duration.ofSeconds(30))
        .pollInterval(Duration.ofSeconds(1))
        .untilAsserted(
            () -> {
              cluster
                  .admin()
                  .resource(pool.need(InferenceModel.class, "chat"))
                  .patch(
                      MERGE,
                      "{\"spec\":{\"targetModels\":[{\"name\":\"a\",\"weight\":%d}]}}"
                          .formatted(weight.incrementAndGet()));
              assertThat(pool.poolConditions())
                  .containsEntry("Programmed", "False/ConfigNotReported");
            });
  }

  /** It would go on setting the number of pods, which is the picker's to say now. */
  @Test
  void anAutoscalerThatIsWantedNoMoreGoesAlsoWhereSomethingElseCannotBeMade() {
    pool.create(
        """
        apiVersion: v1
        kind: ServiceAccount
        metadata: {name: pool-epp}
        """);
    pool.create(
        """
        apiVersion: fairlead.io/v1alpha1
        kind: EndpointPicker
        metadata: {name: mine}
        spec: {poolRef: {name: pool}, autoscaling: {maxReplicas: 3}}
        """);
    pool.createPool();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> pool.get(HorizontalPodAutoscaler.class, PICKER) != null);
    patchPicker("{\"spec\":{\"autoscaling\":null,\"replicas\":1}}");
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> pool.get(HorizontalPodAutoscaler.class, PICKER) == null);
    pool.awaitPool("Ready", "False/EPPUnavailable");
  }

  private void restart(Settings.Pace pace) {
    operator.close();
    operator = OperatorUnderTest.paced(cluster, pool, pace);
  }

  /** Else drains would go by a budget of before, and only the operator's log said so. */
  @Test
  void whatAPolicyKeepsFromBeingDeletedIsToldUntilItIsGone() {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.awaitPickerCarriedOut();
    pool.becomeReady();
    PodDisruptionBudget budget = pool.need(PodDisruptionBudget.class, PICKER);
    List<HasMetadata> policy =
        cluster.refuse(pool.namespace(), "DELETE", "policy", "poddisruptionbudgets");
    try {
      cluster.awaitRefused(operator -> operator.resource(budget).dryRun().delete());
      patchPicker("{\"spec\":{\"replicas\":1}}");
      pool.awaitPicker("mine", "AvailabilityGuarded", "False/ObjectNotApplied");
      assertThat(pool.pickerMessage("mine", "AvailabilityGuarded"))
          .startsWith(
              "PodDisruptionBudget %s/%s is not wanted any more and stays: "
                  .formatted(pool.namespace(), PICKER))
          .endsWith("see to that webhook or policy, or delete it by hand");
      pool.awaitPool("Programmed", "True/Programmed");
    } finally {
      policy.forEach(part -> cluster.admin().resource(part).delete());
    }
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () -> {
              assertThat(pool.get(PodDisruptionBudget.class, PICKER)).isNull();
              assertThat(pool.pickerConditions("mine")).doesNotContainKey("AvailabilityGuarded");
            });
  }

  /** It serves nobody any more, and what is wrong with what does is told all the same. */
  @Test
  void aServiceOfBeforeThatMayNotBeDeletedIsToldBeside() {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.awaitPickerCarriedOut();
    pool.becomeReady();
    Service before = pool.need(Service.class, "picker-service");
    List<HasMetadata> policy = cluster.refuse(pool.namespace(), "DELETE", "", "services");
    try {
      cluster.awaitRefused(operator -> operator.resource(before).dryRun().delete());
      cluster
          .admin()
          .resource(pool.need(InferencePool.class, PoolFixture.POOL))
          .patch(MERGE, "{\"spec\":{\"endpointPickerRef\":{\"name\":\"renamed\"}}}");
      await().until(() -> pool.get(Service.class, "renamed") != null);
      pool.create(
          """
          apiVersion: discovery.k8s.io/v1
          kind: EndpointSlice
          metadata: {name: renamed-1, labels: {kubernetes.io/service-name: renamed}}
          addressType: IPv4
          endpoints: [{addresses: [10.1.2.3]}]
          """);
      pool.awaitPicker("mine", "AvailabilityGuarded", "False/ObjectNotApplied");
      assertThat(pool.pickerMessage("mine", "AvailabilityGuarded"))
          .startsWith(
              "Service %s/picker-service is not wanted any more and stays: "
                  .formatted(pool.namespace()));
      pool.awaitPool("Programmed", "True/Programmed");
      pool.awaitPool("Ready", "True/Ready");
    } finally {
      policy.forEach(part -> cluster.admin().resource(part).delete());
    }
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () -> {
              assertThat(pool.get(Service.class, "picker-service")).isNull();
              assertThat(pool.pickerConditions("mine")).doesNotContainKey("AvailabilityGuarded");
            });
  }

  /** Pods serve without a budget: only drains are not bounded then. */
  @Test
  void aBudgetThatCannotBeMadeIsToldBesideAndThePoolIsReady() {
    pool.create(
        """
        apiVersion: policy/v1
        kind: PodDisruptionBudget
        metadata: {name: pool-epp}
        spec: {maxUnavailable: 1, selector: {matchLabels: {app: other}}}
        """);
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.awaitPool("AvailabilityGuarded", "False/ObjectNotApplied");
    pool.awaitPickerCarriedOut();
    pool.becomeReady();
    pool.awaitPool("Programmed", "True/Programmed");
    assertThat(pool.poolMessage("AvailabilityGuarded"))
        .contains("PodDisruptionBudget %s/pool-epp is not ours".formatted(pool.namespace()));
    pool.awaitPicker("mine", "AvailabilityGuarded", "False/ObjectNotApplied");

    pool.delete(PodDisruptionBudget.class, PICKER);
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              assertThat(pool.get(PodDisruptionBudget.class, PICKER)).isNotNull();
              assertThat(pool.poolConditions()).doesNotContainKey("AvailabilityGuarded");
            });
  }

  @Test
  void whatTheApiServerCallsInvalidIsToldWithItsFieldAndWhereToCorrectIt() {
    pool.createPicker("mine", "{name: pool}");
    patchPicker("{\"spec\":{\"podTemplate\":{\"priorityClassName\":\"No Name\"}}}");
    pool.createPool();
    pool.awaitPool("Programmed", "False/EPPUnavailable");
    awaitPoolMessage("Programmed", "Deployment %s/pool-epp is refused".formatted(pool.namespace()));
    assertThat(pool.poolMessage("Programmed"))
        .contains(
            "spec.template.spec.priorityClassName", "correct that field in the EndpointPicker");
  }

  /** From here on a webhook is asked that nobody answers for: the API server says 500. */
  private void failAt(String resource, String group) {
    failAt(resource, group, "https://127.0.0.1:1/", "");
  }

  /** From here on this webhook is asked, which refuses. */
  private void failAt(String resource, String group, String url, String certificate) {
    ValidatingWebhookConfiguration configuration = webhook(resource, group);
    WebhookClientConfig asked = configuration.getWebhooks().getFirst().getClientConfig();
    asked.setUrl(url);
    asked.setCaBundle(certificate);
    cluster.admin().resource(configuration).create();
    Config config = Config.fromKubeconfig(kubeConfig);
    // It is refused again and again until the API server has seen the webhook.
    config.setRequestRetryBackoffLimit(0);
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
      awaitRefusal(client, group, "failing.example.test");
    }
  }

  private void awaitRefusal(KubernetesClient client, String group, String said) {
    await()
        .untilAsserted(
            () -> assertThatThrownBy(() -> dryRun(client, group)).hasMessageContaining(said));
  }

  private static String probe(String group) {
    return group.isEmpty()
        ? """
          apiVersion: v1
          kind: Service
          metadata: {name: probe}
          spec: {ports: [{port: 1}]}
          """
        : """
          apiVersion: apps/v1
          kind: Deployment
          metadata: {name: probe}
          spec:
            selector: {matchLabels: {a: b}}
            template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}
          """;
  }

  private ValidatingWebhookConfiguration webhook(String resource, String group) {
    return new ValidatingWebhookConfigurationBuilder()
        .withNewMetadata()
        .withName(pool.namespace() + "-" + resource)
        .endMetadata()
        .addNewWebhook()
        .withName("failing.example.test")
        .withFailurePolicy("Fail")
        .withSideEffects("None")
        .withAdmissionReviewVersions("v1")
        .withTimeoutSeconds(10)
        .withNewClientConfig()
        .withUrl("")
        .endClientConfig()
        .withNewNamespaceSelector()
        .addToMatchLabels("kubernetes.io/metadata.name", pool.namespace())
        .endNamespaceSelector()
        .addNewRule()
        .withOperations("CREATE", "UPDATE")
        .withApiGroups(group)
        .withApiVersions("*")
        .withResources(resource)
        .endRule()
        .endWebhook()
        .build();
  }

  private void awaitPoolMessage(String type, String part) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(pool.poolMessage(type)).contains(part));
  }

  private void patchPicker(String merge) {
    cluster.admin().resource(pool.need(EndpointPicker.class, "mine")).patch(MERGE, merge);
  }
}
