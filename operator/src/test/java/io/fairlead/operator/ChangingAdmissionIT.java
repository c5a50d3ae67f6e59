package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.PICKER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.observe.Adoption;
import io.fairlead.operator.reconcile.Settings;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import io.fairlead.operator.testing.RefusingWebhook;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A webhook that has all images come from another registry, as clusters have them. */
@ExtendWith(KubeApi.class)
class ChangingAdmissionIT {
  private static final String MIRRORED = "mirror.example.test/epp:1";

  /** More than an object is put right at once. */
  private static final int CHANGES = 8;

  private Installed cluster;
  private PoolFixture pool;
  private RefusingWebhook webhook;

  @BeforeEach
  void changeImages(KubeApi.Running server, @TempDir Path folder)
      throws IOException, GeneralSecurityException {
    cluster = Installed.on(server);
    pool = new PoolFixture(cluster.admin(), cluster.namespace("mirrored"));
    webhook =
        RefusingWebhook.changing(
            folder,
            "[{\"op\":\"replace\",\"path\":\"/spec/template/spec/containers/0/image\",\"value\":\"%s\"}]"
                .formatted(MIRRORED));
    cluster.admin().resource(configuration()).create();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> image(cluster.admin().resource(probe()).dryRun().create()).equals(MIRRORED));
  }

  @AfterEach
  void leaveThem() {
    cluster.admin().resource(configuration()).delete();
    webhook.close();
  }

  @Test
  void whatAdmissionMakesOfADeploymentIsNobodysEdit() {
    try (OperatorUnderTest operator = start()) {
      pool.createPool();
      pool.createPool("other", "other-service");
      pool.becomeReady();
      // A Deployment that is made later than the mark would count as a write.
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(PoolFixture.brief(pool.entry("other")))
                      .containsEntry("Ready", "False/RolloutInProgress"));
      AuditLog.Mark ready = operator.mark();
      touch(operator, 0);
      assertQuiet(operator, ready);

      pool.createPicker("mine", "{name: pool}");
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> pool.need(Deployment.class, PICKER).getSpec().getReplicas() == 2);
      pool.becomeAvailableAgain();
      pool.reportCurrent();
      pool.awaitPicker("mine", "Ready", "True/Ready");
      AuditLog.Mark rolledOut = operator.mark();
      touch(operator, CHANGES);
      assertQuiet(operator, rolledOut);
    }
    String version = pool.need(Deployment.class, PICKER).getMetadata().getResourceVersion();
    try (OperatorUnderTest operator = start()) {
      // The first look may be one that waits for other kinds to be known, and the last one, too.
      label("pool");
      label("other");
      operator.awaitReconciled("InferencePool/pool", 2);
      operator.awaitReconciled("InferencePool/other", 2);
      assertThat(pool.need(Deployment.class, PICKER).getMetadata().getResourceVersion())
          .as("nothing is changed by a restart")
          .isEqualTo(version);
      AuditLog.Mark restarted = operator.mark();
      touch(operator, 2 * CHANGES);
      assertQuiet(operator, restarted);
      assertThat(PoolFixture.brief(pool.entry("other"))).doesNotContainKey("UpToDate");
    }
    assertThat(pool.all(Event.class))
        .extracting(Event::getReason)
        .doesNotContain("Repaired", "WaitingForTurn", "FieldManagerConflict");
  }

  /** Their controllers write statuses all the while, and nothing of ours is changed by that. */
  @ParameterizedTest
  @CsvSource({
    "autoscaling, horizontalpodautoscalers, /spec/maxReplicas, 3",
    "policy, poddisruptionbudgets, /metadata/labels/app.kubernetes.io~1part-of, \"theirs\"",
    "'', configmaps, /metadata/labels/app.kubernetes.io~1part-of, \"theirs\"",
    "'', services, /metadata/labels/app.kubernetes.io~1part-of, \"theirs\"",
  })
  void whatAdmissionMakesOfAnythingElseIsNobodysEditEither(
      String group, String resource, String path, String value, @TempDir Path folder)
      throws IOException, GeneralSecurityException {
    try (RefusingWebhook changing =
            RefusingWebhook.changing(
                folder,
                "[{\"op\":\"replace\",\"path\":\"%s\",\"value\":%s}]".formatted(path, value));
        OperatorUnderTest operator = start()) {
      HasMetadata changes =
          cluster.admin().resource(configuration("other", changing, group, resource)).create();
      try {
        pool.create(
            """
            apiVersion: fairlead.io/v1alpha1
            kind: EndpointPicker
            metadata: {name: mine}
            spec: {poolRef: {name: pool}, autoscaling: {minReplicas: 2, maxReplicas: 6}}
            """);
        pool.createPool();
        pool.becomeReady();
        // Where the webhook came to be asked after the first apply, it is asked now.
        for (HasMetadata child : children(resource)) {
          cluster.admin().resource(child).delete();
        }
        await()
            .atMost(Duration.ofSeconds(30))
            .until(
                () ->
                    children(resource).size() == 1
                        && children(resource).stream().noneMatch(ChangingAdmissionIT::isAsWanted));
        pool.awaitEventsSent();
        List<String> events = repairs();
        AuditLog.Mark made = operator.mark();
        for (int change = 0; change < CHANGES; change++) {
          int times = operator.reconciled("InferencePool/pool");
          cluster
              .admin()
              .resource(children(resource).getFirst())
              .patch(
                  PatchContext.of(PatchType.JSON_MERGE),
                  "{\"metadata\":{\"annotations\":{\"example.test/touched\":\"%d\"}}}"
                      .formatted(change));
          operator.awaitReconciled("InferencePool/pool", times + 1);
        }
        assertThat(operator.requests(made))
            .filteredOn(request -> request.writes() && request.resource().equals(resource))
            .isEmpty();
        pool.awaitEventsSent();
        assertThat(repairs()).isEqualTo(events);
        assertThat(pool.poolConditions())
            .containsEntry("Ready", "True/Ready")
            .doesNotContainKey("AvailabilityGuarded");
      } finally {
        cluster.admin().resource(changes).delete();
      }
    }
  }

  /**
   * Pickers would find no config, no endpoints, or no clients, and the cause is in none of them.
   */
  @ParameterizedTest
  @CsvSource({
    "'', configmaps, /data, {}, data",
    "rbac.authorization.k8s.io, rolebindings, /subjects, [], subjects",
    "networking.k8s.io, networkpolicies, /spec/ingress, [], spec.ingress",
    "'', services, /spec/selector, {\"app\":\"theirs\"}, spec.selector",
  })
  void whatAdmissionTakesOfWhatPickersLiveByIsToldUntilItIsBack(
      String group, String resource, String path, String value, String field, @TempDir Path folder)
      throws IOException, GeneralSecurityException {
    try (RefusingWebhook changing =
            RefusingWebhook.changing(
                folder,
                "[{\"op\":\"replace\",\"path\":\"%s\",\"value\":%s}]".formatted(path, value));
        OperatorUnderTest operator = start()) {
      pool.create(
          """
          apiVersion: fairlead.io/v1alpha1
          kind: EndpointPicker
          metadata: {name: mine}
          spec: {poolRef: {name: pool}, networkPolicy: {}}
          """);
      pool.createPool();
      await().atMost(Duration.ofSeconds(30)).until(() -> !children(resource).isEmpty());
      pool.becomeReady();
      HasMetadata whole = children(resource).getFirst();
      HasMetadata changes =
          cluster.admin().resource(configuration("other", changing, group, resource)).create();
      try {
        // What the API server asks of webhooks is known to it a moment later.
        AtomicInteger change = new AtomicInteger();
        await()
            .atMost(Duration.ofSeconds(60))
            .untilAsserted(
                () -> {
                  cluster
                      .admin()
                      .resource(children(resource).getFirst())
                      .patch(
                          PatchContext.of(PatchType.JSON_MERGE),
                          "{\"metadata\":{\"annotations\":{\"example.test/touched\":\"%d\"}}}"
                              .formatted(change.incrementAndGet()));
                  assertThat(pool.poolConditions())
                      .containsEntry("Programmed", "False/EPPUnavailable");
                });
        assertThat(pool.poolMessage("Programmed"))
            .contains(
                "%s %s/%s: %s is not what was applied"
                    .formatted(
                        whole.getKind(), pool.namespace(), whole.getMetadata().getName(), field),
                "mutating");
      } finally {
        cluster.admin().resource(changes).delete();
      }
      pool.awaitPool("Programmed", "True/Programmed");
      assertThat(spec(children(resource).getFirst())).isEqualTo(spec(whole));
      assertThat(operator.reconciled("InferencePool/pool")).isPositive();
    }
  }

  /** All but what changes whatever is written. */
  private ObjectNode spec(HasMetadata child) {
    ObjectNode all =
        cluster.admin().getKubernetesSerialization().convertValue(child, ObjectNode.class);
    all.remove(List.of("metadata", "status"));
    return all;
  }

  private List<String> repairs() {
    return pool.all(Event.class).stream()
        .filter(event -> event.getReason().equals("Repaired"))
        .map(Event::getMessage)
        .toList();
  }

  private List<? extends HasMetadata> children(String resource) {
    List<? extends HasMetadata> all =
        switch (resource) {
          case "horizontalpodautoscalers" -> pool.all(HorizontalPodAutoscaler.class);
          case "poddisruptionbudgets" -> pool.all(PodDisruptionBudget.class);
          case "configmaps" -> pool.all(ConfigMap.class);
          case "rolebindings" -> pool.all(RoleBinding.class);
          case "networkpolicies" -> pool.all(NetworkPolicy.class);
          default -> pool.all(Service.class);
        };
    return all.stream()
        .filter(child -> child.getMetadata().getName().matches(PICKER + "|picker-service"))
        .toList();
  }

  private static boolean isAsWanted(HasMetadata child) {
    return child instanceof HorizontalPodAutoscaler autoscaler
        ? autoscaler.getSpec().getMaxReplicas() == 6
        : "fairlead".equals(child.getMetadata().getLabels().get("app.kubernetes.io/part-of"));
  }

  /** Else pods would go on with an image that nobody wants any more, until somebody edits it. */
  @Test
  void aPolicyThatIsMendedIsHeardOfInTheEnd() {
    Settings.Pace pace =
        Paces.usualBut(
            paces -> {
              paces.turns = Duration.ofMillis(500);
              paces.answers = Duration.ofSeconds(2);
            });
    try (var _ = OperatorUnderTest.paced(cluster, pool, pace)) {
      pool.createPool();
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> pool.get(Deployment.class, PICKER) != null);
      assertThat(pool.pickerImage()).isEqualTo(MIRRORED);
      cluster.admin().resource(configuration()).delete();
      AtomicInteger change = new AtomicInteger();
      await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () -> {
                // Nothing tells of a policy: the Deployment's next event has it asked again.
                pool.touchAll(change.incrementAndGet());
                return pool.pickerImage().equals(OperatorUnderTest.IMAGE);
              });
    }
  }

  private void label(String name) {
    cluster
        .admin()
        .resource(pool.need(InferencePool.class, name))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\":{\"labels\":{\"example.test/touched\":\"again\"}}}");
  }

  private OperatorUnderTest start() {
    return new OperatorUnderTest(
        cluster,
        pool,
        new Settings(
            Adoption.ALL, Duration.ZERO, OperatorUnderTest.PICKER, 1, OperatorUnderTest.FAST));
  }

  /** The Deployment gets one version after the other, as its controller makes them. */
  private void touch(OperatorUnderTest operator, int from) {
    for (int change = 0; change < CHANGES; change++) {
      int times = operator.reconciled("InferencePool/pool");
      cluster
          .admin()
          .resource(pool.need(Deployment.class, PICKER))
          .edit(there -> marked(there, from, times));
      operator.awaitReconciled("InferencePool/pool", times + 1);
    }
  }

  private static Deployment marked(Deployment there, int from, int times) {
    return new DeploymentBuilder(there)
        .editMetadata()
        .addToAnnotations("example.test/touched", from + "-" + times)
        .endMetadata()
        .build();
  }

  private void assertQuiet(OperatorUnderTest operator, AuditLog.Mark since) {
    assertThat(operator.requests(since))
        .filteredOn(request -> request.writes() && request.resource().equals("deployments"))
        .isEmpty();
    assertThat(pool.poolConditions())
        .containsEntry("Programmed", "True/Programmed")
        .doesNotContainKey("UpToDate");
  }

  private static String image(Deployment deployment) {
    return deployment.getSpec().getTemplate().getSpec().getContainers().getFirst().getImage();
  }

  private Deployment probe() {
    Map<String, String> labels = Map.of("app", "probe");
    return new DeploymentBuilder()
        .withNewMetadata()
        .withName("probe")
        .withNamespace(pool.namespace())
        .endMetadata()
        .withNewSpec()
        .withNewSelector()
        .withMatchLabels(labels)
        .endSelector()
        .withNewTemplate()
        .withNewMetadata()
        .withLabels(labels)
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("probe")
        .withImage("example.test/probe")
        .endContainer()
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }

  private MutatingWebhookConfiguration configuration() {
    return configuration("mirror", webhook, "apps", "deployments");
  }

  private MutatingWebhookConfiguration configuration(
      String name, RefusingWebhook asked, String group, String resource) {
    return new MutatingWebhookConfigurationBuilder()
        .withNewMetadata()
        .withName(pool.namespace() + "-" + name)
        .endMetadata()
        .addNewWebhook()
        .withName(name + ".example.test")
        .withFailurePolicy("Fail")
        .withSideEffects("None")
        .withAdmissionReviewVersions(List.of("v1"))
        .withNewClientConfig()
        .withUrl(asked.url())
        .withCaBundle(asked.certificate())
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
}
