package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.PICKER;
import static io.fairlead.operator.testing.PoolFixture.POOL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.status.Notice;
import java.time.Duration;
import java.util.Map;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What somebody does to a picker's objects by hand, beyond what the operator applies of them. */
class HandEditsIT extends OperatorWithPool {
  private static final String SERVICE = "picker-service";

  HandEditsIT() {
    super("edits", true);
  }

  /** Copies and tools that restore objects lose it; nothing else may be lost by that. */
  @ParameterizedTest
  @ValueSource(
      classes = {
        ServiceAccount.class,
        RoleBinding.class,
        ConfigMap.class,
        Service.class,
        Deployment.class
      })
  void anOwnerThatIsTakenAwayIsBackAndNothingElseChanges(Class<? extends HasMetadata> kind) {
    pool.createPool();
    pool.becomeReady();
    String picker = uid(Deployment.class, PICKER);
    String name = kind.equals(Service.class) ? SERVICE : PICKER;
    String uid = uid(kind, name);
    patch(pool.need(kind, name), "{\"metadata\":{\"ownerReferences\":null}}");
    String owner = uid(InferencePool.class, POOL);
    eventually(
        () ->
            assertThat(pool.need(kind, name).getMetadata().getOwnerReferences())
                .extracting(OwnerReference::getUid)
                .containsExactly(owner));
    eventually(() -> assertThat(pool.poolConditions()).containsEntry("Ready", "True/Ready"));
    assertThat(uid(kind, name)).isEqualTo(uid);
    assertThat(uid(Deployment.class, PICKER)).as("it serves all the while").isEqualTo(picker);
    eventually(
        () ->
            assertThat(pool.all(Event.class))
                .extracting(Event::getMessage)
                .anyMatch(said -> said.startsWith(kind.getSimpleName() + " " + pool.namespace())));
  }

  /** It is out of sight of the informers for as long as that takes, and serves all the while. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"metadata\":{\"ownerReferences\":null}}",
        "{\"metadata\":{\"labels\":{\"app.kubernetes.io/managed-by\":null}}}"
      })
  void whileADeploymentIsPutRightNothingElseIsSaid(String edit) {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.awaitPickerCarriedOut();
    pool.becomeReady();
    pool.awaitPicker("mine", "Ready", "True/Ready");
    pool.awaitEventsSent();
    AuditLog.Mark mark = operator.mark();
    patch(pool.need(Deployment.class, PICKER), edit);
    eventually(
        () ->
            assertThat(pool.all(Event.class))
                .extracting(Event::getReason)
                .contains(Notice.REPAIRED.wireName()));
    int seen = operator.reconciled("InferencePool/pool");
    pool.touchAll(1);
    operator.awaitReconciled("InferencePool/pool", seen + 2);
    assertThat(operator.requests(mark))
        .filteredOn(AuditLog.Request::writes)
        .extracting(AuditLog.Request::resource)
        .containsExactlyInAnyOrder("deployments", "events");
  }

  /** The API server refuses the tokens that pods have of the one that is gone. */
  @Test
  void anAccountThatIsMadeAgainReplacesThePodsOnce() {
    pool.createPool();
    pool.becomeReady();
    Deployment before = pool.need(Deployment.class, PICKER);
    awaitALaterSecondThan(before);
    pool.delete(ServiceAccount.class, PICKER);
    eventually(
        () ->
            assertThat(
                    pool.need(Deployment.class, PICKER)
                        .getSpec()
                        .getTemplate()
                        .getMetadata()
                        .getAnnotations())
                .containsExactly(
                    Map.entry("fairlead.io/account", uid(ServiceAccount.class, PICKER))));
    Deployment after = pool.need(Deployment.class, PICKER);
    assertThat(after.getMetadata().getUid()).isEqualTo(before.getMetadata().getUid());
    assertThat(after.getSpec().getTemplate().getSpec())
        .isEqualTo(before.getSpec().getTemplate().getSpec());
    AuditLog.Mark mark = operator.mark();
    int seen = operator.reconciled("InferencePool/pool");
    pool.touchAll(1);
    operator.awaitReconciled("InferencePool/pool", seen + 2);
    assertThat(operator.requests(mark))
        .filteredOn(AuditLog.Request::writes)
        .filteredOn(request -> request.resource().equals("deployments"))
        .isEmpty();
  }

  /** What is made now is told from what was made with that by the API server's clock. */
  private void awaitALaterSecondThan(HasMetadata object) {
    ConfigMap probe =
        new ConfigMapBuilder()
            .withNewMetadata()
            .withName("probe")
            .withNamespace(pool.namespace())
            .endMetadata()
            .build();
    eventually(
        () ->
            assertThat(
                    cluster
                        .admin()
                        .resource(probe)
                        .dryRun()
                        .create()
                        .getMetadata()
                        .getCreationTimestamp())
                .isGreaterThan(object.getMetadata().getCreationTimestamp()));
  }

  /** As an autoscaler does, by a subresource: whose number it is must be found. */
  @Test
  void whoScalesADeploymentWhoseNumberThePickerSaysIsNamed() {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.awaitPickerCarriedOut();
    pool.becomeReady();
    var deployment = cluster.admin().apps().deployments().inNamespace(pool.namespace());
    deployment
        .withName(PICKER)
        .subresource("scale")
        .patch(
            new PatchContext.Builder()
                .withPatchType(PatchType.JSON_MERGE)
                .withFieldManager("their-autoscaler")
                .build(),
            "{\"spec\":{\"replicas\":5}}");
    eventually(
        () ->
            assertThat(pool.all(Event.class))
                .extracting(Event::getMessage)
                .contains(
                    "Deployment %s/%s was changed by their-autoscaler and is as it should be again"
                        .formatted(pool.namespace(), PICKER)));
    assertThat(pool.need(Deployment.class, PICKER).getSpec().getReplicas()).isEqualTo(2);
  }

  /** It can't be made anew before, and whoever reads "wait" would wait for good. */
  @Test
  void whatKeepsADeletedObjectIsNamed() {
    pool.createPool();
    pool.becomeReady();
    patch(
        pool.need(Service.class, SERVICE),
        "{\"metadata\":{\"finalizers\":[\"example.test/kept\"]}}");
    pool.delete(Service.class, SERVICE);
    eventually(
        () ->
            assertThat(pool.poolMessage("ResolvedRefs"))
                .isEqualTo(
                    "Service %s/%s is being deleted, and metadata.finalizers keep it: example.test/kept; it is made anew when it is gone: see to whoever set them, or take them out where nobody will"
                        .formatted(pool.namespace(), SERVICE)));
    patch(pool.need(Service.class, SERVICE), "{\"metadata\":{\"finalizers\":null}}");
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
  }

  /** They have all of the picker's labels, and nobody knows what they run. */
  @Test
  void podsOfACopiedDeploymentAreNotThePickers() {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.awaitPickerCarriedOut();
    pool.becomeReady();
    pool.readyPodOfACopy("copied");
    int seen = operator.reconciled("InferencePool/pool");
    pool.touchAll(1);
    operator.awaitReconciled("InferencePool/pool", seen + 2);
    pool.awaitPool("Programmed", "True/Programmed");
    assertThat(pool.need(EndpointPicker.class, "mine").getStatus().replicas()).isEqualTo(1);
  }

  /** As of a Deployment to try things at. */
  @ParameterizedTest
  @ValueSource(classes = {ConfigMap.class, Deployment.class})
  void aCopyWithLabelsAndOwnerStays(Class<? extends HasMetadata> kind) {
    pool.createPool();
    pool.becomeReady();
    HasMetadata copy = pool.need(kind, PICKER);
    copy.setMetadata(
        new ObjectMetaBuilder()
            .withName("copied")
            .withLabels(copy.getMetadata().getLabels())
            .withOwnerReferences(copy.getMetadata().getOwnerReferences())
            .build());
    pool.create(copy);
    String uid = uid(kind, "copied");
    int seen = operator.reconciled("InferencePool/pool");
    pool.touchAll(1);
    operator.awaitReconciled("InferencePool/pool", seen + 2);
    assertThat(pool.get(kind, "copied"))
        .isNotNull()
        .satisfies(there -> assertThat(there.getMetadata().getUid()).isEqualTo(uid));
  }

  /** Labels alone make nothing ours. */
  @Test
  void whatOnlyLooksLikeOursStaysUntouched() {
    pool.create(
        """
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: pool-epp
          labels: {app.kubernetes.io/managed-by: fairlead-operator, fairlead.io/picker: pool-epp}
        data: {mine: "1"}
        """);
    pool.createPool();
    pool.awaitPool("Programmed", "False/EPPUnavailable");
    assertThat(pool.poolMessage("Programmed")).contains("pool-epp is not ours");
    assertThat(pool.need(ConfigMap.class, PICKER).getData()).containsOnlyKeys("mine");
  }

  @Test
  void aServiceThatIsMadeToLeadElsewhereLeadsToThePickerAgain() {
    pool.createPool();
    pool.becomeReady();
    patch(
        pool.need(Service.class, SERVICE),
        "{\"spec\":{\"type\":\"ExternalName\",\"externalName\":\"example.test\"}}");
    eventually(
        () -> {
          Service service = pool.need(Service.class, SERVICE);
          assertThat(service.getSpec().getType()).isEqualTo("ClusterIP");
          assertThat(service.getSpec().getExternalName()).isNull();
          assertThat(service.getSpec().getClusterIP()).isNotBlank();
        });
    patch(pool.need(Service.class, SERVICE), "{\"spec\":{\"type\":\"NodePort\"}}");
    int seen = operator.reconciled("InferencePool/pool");
    pool.touchAll(1);
    operator.awaitReconciled("InferencePool/pool", seen + 2);
    assertThat(pool.need(Service.class, SERVICE).getSpec().getType())
        .as("leads to the picker, too")
        .isEqualTo("NodePort");
  }

  /** Others' arm of a field that is one of several stays beside ours when ours is applied. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          readinessProbe/grpc  | readinessProbe/exec | {"command":["true"]}
          livenessProbe/grpc   | livenessProbe/httpGet | {"path":"/","port":9003}
          env/0/valueFrom      | env/0/value | "edited"
          env/0/valueFrom/fieldRef | env/0/valueFrom/secretKeyRef | {"name":"a","key":"b"}
          lifecycle/preStop/sleep | lifecycle/preStop/exec | {"command":["true"]}
          ports/0/containerPort | ports/0/containerPort | 9999
          resources            | resources | {"requests":{"cpu":"50m"},"limits":{"cpu":"100m"}}
          ../../automountServiceAccountToken | ../../automountServiceAccountToken | false
          ../../volumes/0/emptyDir | ../../volumes/0/hostPath | {"path":"/tmp"}
          """)
  void whatExcludesAFieldOfOursIsTakenAway(String ours, String theirs, String value) {
    pool.createPool();
    pool.becomeReady();
    Deployment before = pool.need(Deployment.class, PICKER);
    cluster
        .admin()
        .resource(before)
        .patch(
            PatchContext.of(PatchType.JSON),
            "[{\"op\":\"remove\",\"path\":\"%s\"},{\"op\":\"add\",\"path\":\"%s\",\"value\":%s}]"
                .formatted(path(ours), path(theirs), value));
    eventually(
        () -> {
          Deployment after = pool.need(Deployment.class, PICKER);
          assertThat(after.getMetadata().getGeneration())
              .isGreaterThan(before.getMetadata().getGeneration() + 1);
          assertThat(after.getSpec()).isEqualTo(before.getSpec());
        });
    assertThat(uid(Deployment.class, PICKER)).isEqualTo(before.getMetadata().getUid());
    pool.awaitPool("Programmed", "True/Programmed");
  }

  private static String path(String ofContainer) {
    String container = "/spec/template/spec/containers/0/" + ofContainer;
    return container.replace("containers/0/../../", "");
  }

  @Test
  void aBudgetThatWasTurnedRoundIsTurnedBack() {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    eventually(() -> assertThat(pool.get(PodDisruptionBudget.class, PICKER)).isNotNull());
    patch(
        pool.need(PodDisruptionBudget.class, PICKER),
        "{\"spec\":{\"maxUnavailable\":null,\"minAvailable\":1}}");
    eventually(
        () -> {
          var spec = pool.need(PodDisruptionBudget.class, PICKER).getSpec();
          assertThat(spec.getMinAvailable()).isNull();
          assertThat(spec.getMaxUnavailable()).isNotNull();
        });
  }

  private String uid(Class<? extends HasMetadata> kind, String name) {
    return pool.need(kind, name).getMetadata().getUid();
  }

  private static void patch(HasMetadata object, String patch) {
    cluster.admin().resource(object).patch(PatchContext.of(PatchType.JSON_MERGE), patch);
  }

  private static void eventually(ThrowingRunnable holds) {
    await().atMost(Duration.ofSeconds(30)).untilAsserted(holds);
  }
}
