package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Kustomization;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.PoolFixture;
import io.fairlead.operator.testing.TestSecrets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the author of an EndpointPicker may say of its pods, carried out on a real API server. */
@Makes(Reason.PAUSED_BY_SPEC)
class PickerSettingsIT extends OperatorWithPool {
  private static final String PICKER = PoolFixture.PICKER;

  private static final Set<String> CHILDREN =
      Set.of(
          "serviceaccounts",
          "rolebindings",
          "configmaps",
          "services",
          "deployments",
          "poddisruptionbudgets",
          "networkpolicies");

  PickerSettingsIT() {
    super("settings", true);
  }

  @Test
  void allOfItIsTakenByTheApiServerAndWrittenOnce() {
    TestSecrets.tls(pool, "pair", "good.crt", "good.key");
    TestSecrets.put(pool, "shared", Map.of("secret", "x"));
    create(
        """
        replicas: 3
        disruptionBudget: {minAvailable: 50%}
        podTemplate:
          labels: {team: ml}
          annotations: {linkerd.io/inject: enabled}
          nodeSelector: {disk: ssd}
          tolerations: [{key: gpu, operator: Exists, effect: NoExecute, tolerationSeconds: 30}]
          priorityClassName: high
          imagePullSecrets: [{name: registry}]
          env:
            - {name: OTEL_SERVICE_NAME, value: picker}
            - {name: EMPTY}
            - {name: TOKEN, valueFrom: {secretKeyRef: {name: collector, key: token, optional: true}}}
            - {name: LEVEL, value: "", valueFrom: {configMapKeyRef: {name: shared, key: level, optional: false}}}
            - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
          affinity:
            nodeAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a, b]}]}]
            podAntiAffinity:
              preferredDuringSchedulingIgnoredDuringExecution:
                - {weight: 5, podAffinityTerm: {topologyKey: rack, labelSelector: {matchLabels: {app: noisy}}}}
        networkPolicy:
          requestsFrom: [{namespaceSelector: {matchLabels: {gateways: "yes"}}}, {ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}]
        tls: {secretName: pair}
        handOver: {secretName: shared}
        tracing: {endpoint: "http://collector:4317", samplingPercent: 5}
        capture: {volumeClaimName: captures, sharePercent: 50}
        """);
    pool.createPool();
    await().until(() -> pool.get(PodDisruptionBudget.class, PICKER) != null);

    Deployment deployment = pool.need(Deployment.class, PICKER);
    PodSpec pod = deployment.getSpec().getTemplate().getSpec();
    assertThat(deployment.getSpec().getReplicas()).isEqualTo(3);
    assertThat(deployment.getSpec().getTemplate().getMetadata().getLabels())
        .containsEntry("team", "ml")
        .containsEntry("fairlead.io/picker", PICKER);
    assertThat(pod.getNodeSelector()).isEqualTo(Map.of("disk", "ssd"));
    assertThat(pod.getPriorityClassName()).isEqualTo("high");
    assertThat(pod.getContainers().getFirst().getEnv())
        .filteredOn(variable -> variable.getValueFrom() != null)
        .extracting(EnvVar::getName)
        .contains("TOKEN", "LEVEL", "NODE");
    assertThat(pod.getAffinity().toString()).contains("zone", "rack");
    NetworkPolicy policy = pool.need(NetworkPolicy.class, PICKER);
    assertThat(policy.getSpec().getIngress().getFirst().getFrom()).hasSize(2);
    assertThat(pod.getContainers().getFirst().getArgs())
        .containsSubsequence(
            List.of(
                "--cert-path",
                "/tls",
                "--tracing-endpoint",
                "http://collector:4317",
                "--tracing-ratio",
                "0.05",
                "--capture",
                "/capture",
                "--capture-share",
                "0.5"));
    assertThat(pool.need(PodDisruptionBudget.class, PICKER).getSpec().getMinAvailable().getStrVal())
        .isEqualTo("50%");

    pool.becomeReady();
    List<AuditLog.Request> before = writesOfChildren();
    int times = operator.reconciled("InferencePool/pool");
    pool.touchAll(1);
    operator.awaitReconciled("InferencePool/pool", times + 1);
    assertThat(writesOfChildren()).as("nothing is applied again").isEqualTo(before);
  }

  /** Requests would be sent to it; what it runs goes on, and takes edits. */
  @Test
  void aLabelByWhichThePoolWouldSelectItsPickerStaysOffItsPods() {
    create("podTemplate: {labels: {team: ml}}");
    pool.createPool();
    await()
        .untilAsserted(
            () -> assertThat(podLabels()).containsEntry("team", "ml").doesNotContainKey("app"));
    edit("{\"spec\":{\"podTemplate\":{\"labels\":{\"app\":\"vllm\",\"team\":\"other\"}}}}");
    pool.awaitPool("Accepted", "False/InvalidSpec");
    assertThat(pool.poolMessage("Accepted"))
        .contains("EndpointPicker " + pool.namespace() + "/mine: spec.podTemplate.labels");
    await()
        .untilAsserted(
            () -> assertThat(podLabels()).containsEntry("team", "other").doesNotContainKey("app"));
    pool.createModel("chat", "chat", 90);
    await().untilAsserted(() -> assertThat(pool.config()).contains("chat"));

    edit("{\"spec\":{\"podTemplate\":{\"labels\":{\"app\":null}}}}");
    pool.awaitPool("Accepted", "True/Accepted");
  }

  /** As where the selector is edited so that it is that of pods which run. */
  @Test
  void aSelectorThatTakesInThePickersOwnPodsIsRefusedAndThePodsStay() {
    create("podTemplate: {labels: {team: ml}}");
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    await().untilAsserted(() -> assertThat(podLabels()).containsEntry("team", "ml"));
    await().untilAsserted(() -> assertThat(pool.config()).contains("chat", "vllm"));
    pool.becomeReady();
    pool.awaitModel("chat", "Ready", "True/Ready");
    ConfigHash before = pool.configHash();
    Deployment there = pool.need(Deployment.class, PICKER);
    cluster
        .admin()
        .resource(pool.need(InferencePool.class, PoolFixture.POOL))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"selector\":{\"matchLabels\":{\"app\":null,\"team\":\"ml\"}}}}");
    pool.awaitPool("Accepted", "False/InvalidSpec");
    assertThat(pool.poolMessage("Accepted")).contains("spec.podTemplate.labels", "team=ml");
    // A model that comes now waits, and when it has been told, so have all others.
    pool.createModel("late", "late", 90);
    pool.awaitModel("late", "Accepted", "Unknown/Pending");
    pool.awaitPool("ModelsAccepted", "Unknown/Pending");
    assertThat(pool.modelConditions("chat"))
        .containsEntry("Accepted", "True/Accepted")
        .containsEntry("Programmed", "True/Programmed")
        .containsEntry("Ready", "True/Ready");
    assertThat(
            Objects.requireNonNull(pool.need(EndpointPicker.class, "mine").getStatus().models())
                .accepted())
        .isEqualTo(1);
    assertThat(pool.configHash()).as("what was in force").isEqualTo(before);
    assertThat(pool.need(Deployment.class, PICKER).getSpec()).isEqualTo(there.getSpec());
  }

  /** Half of an edit would run else, and stay when the edit is taken back. */
  @Test
  void whatIsRefusedOfAnEditChangesNoPod() {
    create("replicas: 1");
    pool.createPool();
    pool.becomeReady();
    Deployment there = pool.need(Deployment.class, PICKER);
    edit(
        "{\"spec\":{\"resources\":{\"limits\":{\"cpu\":\"3\"}},\"podTemplate\":{\"labels\":{\"team\":\"a b\"}}}}");
    pool.awaitPool("Programmed", "False/EPPUnavailable");
    assertThat(pool.poolMessage("Programmed")).contains("is refused", "a b");
    assertThat(pool.need(Deployment.class, PICKER).getMetadata().getGeneration())
        .isEqualTo(there.getMetadata().getGeneration());

    edit("{\"spec\":{\"resources\":null,\"podTemplate\":null}}");
    pool.awaitPool("Ready", "True/Ready");
    assertThat(pool.need(Deployment.class, PICKER).getSpec()).isEqualTo(there.getSpec());
  }

  /** Requests of that pool would be sent to it, and whoever made the pool has no hand in this. */
  @Test
  void aLabelByWhichAnotherPoolWouldSelectThePickerStaysOffItsPods() {
    create("podTemplate: {labels: {team: ml, tier: chat}}");
    pool.createPool();
    await().untilAsserted(() -> assertThat(podLabels()).containsEntry("tier", "chat"));
    pool.create(
        """
        apiVersion: inference.networking.k8s.io/v1
        kind: InferencePool
        metadata: {name: other}
        spec:
          selector: {matchLabels: {tier: chat}}
          targetPorts: [{number: 8000}]
          endpointPickerRef: {name: other-service, port: {number: 9002}}
        """);
    pool.awaitPool("Accepted", "False/InvalidSpec");
    assertThat(pool.poolMessage("Accepted"))
        .contains(
            "EndpointPicker " + pool.namespace() + "/mine: spec.podTemplate.labels",
            "tier=chat",
            "InferencePool other");
    await()
        .untilAsserted(
            () -> assertThat(podLabels()).containsEntry("team", "ml").doesNotContainKey("tier"));
    pool.createModel("chat", "chat", 90);
    await().untilAsserted(() -> assertThat(pool.config()).contains("chat"));
    assertThat(PoolFixture.brief(pool.entry("other"))).containsEntry("Accepted", "True/Accepted");

    selectByTier("talk");
    pool.awaitPool("Accepted", "True/Accepted");
    await().untilAsserted(() -> assertThat(podLabels()).containsEntry("tier", "chat"));
    selectByTier("chat");
    pool.awaitPool("Accepted", "False/InvalidSpec");
    pool.delete(InferencePool.class, "other");
    pool.awaitPool("Accepted", "True/Accepted");
  }

  /** It does so whatever that picker's author says, and comes after this pool or goes before it. */
  @Test
  void aSelectorOfAnotherPoolsPickerIsRefusedForAsLongAsThatPoolIsThere() {
    pool.create(
        """
        apiVersion: inference.networking.k8s.io/v1
        kind: InferencePool
        metadata: {name: other}
        spec:
          selector: {matchLabels: {app.kubernetes.io/instance: pool-epp}}
          targetPorts: [{number: 8000}]
          endpointPickerRef: {name: other-service, port: {number: 9002}}
        """);
    awaitOther("True/Accepted");
    pool.createPool();
    awaitOther("False/InvalidSpec");
    assertThat(pool.config("other-epp")).as("what was in force stays").isNotEmpty();
    pool.awaitPool("Accepted", "True/Accepted");
    pool.delete(InferencePool.class, PoolFixture.POOL);
    awaitOther("True/Accepted");
  }

  private void awaitOther(String accepted) {
    await()
        .untilAsserted(
            () ->
                assertThat(PoolFixture.brief(pool.entry("other")))
                    .containsEntry("Accepted", accepted));
  }

  private void selectByTier(String value) {
    cluster
        .admin()
        .resource(pool.need(InferencePool.class, "other"))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"selector\":{\"matchLabels\":{\"tier\":\"%s\"}}}}".formatted(value));
  }

  private Map<String, String> podLabels() {
    return pool.need(Deployment.class, PICKER).getSpec().getTemplate().getMetadata().getLabels();
  }

  @Test
  void anAutoscalerSaysHowManyPodsRunAndNobodyElse() {
    create("replicas: 4");
    pool.createPool();
    // The pool may be served for a moment before its EndpointPicker is seen.
    await().untilAsserted(() -> assertThat(replicas()).isEqualTo(4));

    edit("{\"spec\":{\"replicas\":null,\"autoscaling\":{\"minReplicas\":2,\"maxReplicas\":6}}}");
    await().until(() -> pool.get(HorizontalPodAutoscaler.class, PICKER) != null);
    assertThat(replicas()).as("as it was, until the autoscaler says otherwise").isEqualTo(4);
    cluster.admin().apps().deployments().inNamespace(pool.namespace()).withName(PICKER).scale(5);
    pool.createModel("chat", "chat", 90);
    await().until(() -> pool.config().contains("chat"));
    assertThat(replicas()).isEqualTo(5);

    edit("{\"spec\":{\"autoscaling\":null}}");
    await().until(() -> pool.get(HorizontalPodAutoscaler.class, PICKER) == null);
    assertThat(replicas()).isEqualTo(5);
  }

  @Test
  void aPausedPickerIsLeftAsItIsAndSaysWhatWaits() {
    create("replicas: 1");
    pool.createModel("chat", "chat", 90);
    pool.createPool();
    pool.becomeReady();
    pool.awaitModel("chat", "Ready", "True/Ready");
    ConfigHash before = pool.configHash();

    edit("{\"spec\":{\"paused\":true,\"replicas\":3}}");
    pool.awaitPicker("mine", "Paused", "True/PausedBySpec");
    pool.awaitPicker("mine", "Ready", "True/Ready");
    pool.createModel("late", "late", 90);
    pool.awaitPool("Programmed", "Unknown/Pending");
    pool.awaitModel("late", "Programmed", "Unknown/Pending");
    assertThat(pool.modelMessage("late", "Programmed"))
        .isEqualTo(
            "EndpointPicker mine is paused, and what is wanted is not what runs; set spec.paused to false to have it so");
    pool.awaitModel("chat", "Ready", "True/Ready");
    pool.delete(PodDisruptionBudget.class, PICKER);
    assertThat(pool.configHash()).isEqualTo(before);
    assertThat(replicas()).isEqualTo(1);
    assertThat(pool.get(PodDisruptionBudget.class, PICKER)).isNull();
    pool.losePod();
    pool.awaitPool("EndpointsAvailable", "Unknown/Pending");
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
    cluster
        .admin()
        .resource(pool.need(InferencePool.class, PoolFixture.POOL))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"endpointPickerRef\":{\"port\":{\"number\":9100}}}}");
    pool.awaitPool("ResolvedRefs", "Unknown/Pending");
    assertThat(pool.poolMessage("ResolvedRefs"))
        .startsWith("Service picker-service has no port 9100, and EndpointPicker mine is paused");

    pool.delete(Deployment.class, PICKER);
    await()
        .untilAsserted(
            () ->
                assertThat(pool.poolMessage("Ready"))
                    .contains(
                        "Deployment pool-epp is not there, and EndpointPicker mine is paused; set spec.paused to false to have it made")
                    .doesNotContain("wait for it"));

    edit("{\"spec\":{\"paused\":false}}");
    await().until(() -> !pool.configHash().equals(before));
    await().until(() -> pool.get(Deployment.class, PICKER) != null);
    await().until(() -> replicas() == 3);
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
    await()
        .untilAsserted(() -> assertThat(pool.pickerConditions("mine")).doesNotContainKey("Paused"));
  }

  @Test
  void aNetworkPolicyComesAndGoesAsItIsAskedFor() {
    create("networkPolicy: {}");
    pool.createPool();
    // The pool may be served for a moment before its EndpointPicker is seen.
    await().untilAsserted(() -> assertThat(newPodsAreLeftOut()).isTrue());
    NetworkPolicy policy = pool.need(NetworkPolicy.class, PICKER);
    assertThat(policy.getSpec().getIngress().getFirst().getFrom()).as("anybody").isNullOrEmpty();
    cluster
        .admin()
        .resource(policy)
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"ingress\":[]}}");
    await()
        .untilAsserted(
            () ->
                assertThat(pool.need(NetworkPolicy.class, PICKER).getSpec().getIngress())
                    .as("put right")
                    .hasSize(2));
    edit("{\"spec\":{\"networkPolicy\":null}}");
    await().until(() -> !newPodsAreLeftOut());
    pool.becomeAvailableAgain();
    await().until(() -> pool.get(NetworkPolicy.class, PICKER) == null);
  }

  /** Policies add up: what the packaged one opens, a picker's own could not close. */
  @Test
  void thePackagedNetworkPolicyIsForPickersWithoutOneOfTheirOwn() {
    Kustomization.objects(cluster.admin(), Kustomization.render("network-policy-pickers"))
        .forEach(pool::create);
    create("replicas: 1");
    pool.createPool();
    await().until(() -> pool.get(Deployment.class, PICKER) != null);
    assertThat(policiesOfANewPod()).containsExactly("fairlead-pickers");

    edit("{\"spec\":{\"networkPolicy\":{}}}");
    await().until(this::newPodsAreLeftOut);
    assertThat(policiesOfANewPod()).containsExactly(PICKER);

    Deployment deployment = pool.need(Deployment.class, PICKER);
    edit("{\"spec\":{\"networkPolicy\":{\"metricsFrom\":[{\"podSelector\":{}}]}}}");
    await()
        .until(
            () ->
                pool.need(NetworkPolicy.class, PICKER).getSpec().getIngress().stream()
                    .flatMap(rule -> rule.getFrom().stream())
                    .anyMatch(from -> from.getPodSelector() != null));
    assertThat(pool.need(Deployment.class, PICKER).getSpec())
        .as("what it lets through replaces no pod")
        .isEqualTo(deployment.getSpec());

    edit("{\"spec\":{\"networkPolicy\":null}}");
    await().until(() -> !newPodsAreLeftOut());
    pool.becomeAvailableAgain();
    int times = operator.reconciled("InferencePool/pool");
    pool.touchAll(1);
    operator.awaitReconciled("InferencePool/pool", times + 1);
    assertThat(policies()).as("of a pod that is left of before").containsExactly(PICKER);
    pool.delete(Pod.class, PoolFixture.POD);
    await().until(() -> pool.get(NetworkPolicy.class, PICKER) == null);
    assertThat(policiesOfANewPod()).containsExactly("fairlead-pickers");
  }

  /** Of pods with the label that no policy names nothing would keep anybody off. */
  @Test
  void withoutTheirNetworkPolicyNoPodsTakeThePlaceOfThoseThatAre() {
    Kustomization.objects(cluster.admin(), Kustomization.render("network-policy-pickers"))
        .forEach(pool::create);
    create("replicas: 1");
    pool.createPool();
    pool.becomeReady();

    edit(
        "{\"spec\":{\"networkPolicy\":{\"requestsFrom\":[{\"podSelector\":{\"matchLabels\":{\"no key\":\"x\"}}}]}}}");
    pool.awaitPool("Programmed", "False/EPPUnavailable");
    assertThat(pool.poolMessage("Programmed"))
        .startsWith("NetworkPolicy %s/pool-epp is refused".formatted(pool.namespace()))
        .contains("Deployment %s/pool-epp stays as it is".formatted(pool.namespace()));
    assertThat(policiesOfANewPod()).containsExactly("fairlead-pickers");
    pool.delete(Deployment.class, PICKER);
    int times = operator.reconciled("InferencePool/pool");
    pool.touchAll(1);
    operator.awaitReconciled("InferencePool/pool", times + 1);
    assertThat(pool.get(Deployment.class, PICKER)).isNull();

    edit("{\"spec\":{\"networkPolicy\":{\"requestsFrom\":null}}}");
    await().until(() -> pool.get(Deployment.class, PICKER) != null);
    assertThat(policiesOfANewPod()).containsExactly(PICKER);
  }

  /** While they end, pods of a pool that is given up serve as before. */
  @Test
  void theNetworkPolicyOfAPickerThatIsTakenDownGoesAfterItsPods() {
    operator.close();
    operator = new OperatorUnderTest(cluster, pool, false);
    create("networkPolicy: {}");
    pool.createPool();
    await().until(() -> pool.get(Deployment.class, PICKER) != null);
    pool.becomeAvailable();
    pool.delete(EndpointPicker.class, "mine");
    await().until(() -> pool.get(ConfigMap.class, PICKER) == null);
    await().until(() -> pool.get(Deployment.class, PICKER) == null);
    int times = operator.reconciled("InferencePool/pool");
    pool.touchAll(1);
    operator.awaitReconciled("InferencePool/pool", times + 1);
    assertThat(policies()).containsExactly(PICKER);
    pool.delete(Pod.class, PoolFixture.POD);
    await().until(() -> pool.get(NetworkPolicy.class, PICKER) == null);
  }

  /** Whether new pods have the label that leaves them out of what is for all. */
  private boolean newPodsAreLeftOut() {
    return pool.need(Deployment.class, PICKER)
        .getSpec()
        .getTemplate()
        .getMetadata()
        .getLabels()
        .containsKey("fairlead.io/network-policy");
  }

  /** Which policies the API server finds for a pod that the Deployment makes now. */
  private List<String> policiesOfANewPod() {
    pool.delete(Pod.class, PoolFixture.POD);
    pool.becomeAvailable();
    return policies();
  }

  /** Which policies the API server finds for pods that are there. */
  private List<String> policies() {
    return pool.all(NetworkPolicy.class).stream()
        .filter(
            policy ->
                !cluster
                    .admin()
                    .pods()
                    .inNamespace(pool.namespace())
                    .withLabelSelector(policy.getSpec().getPodSelector())
                    .list()
                    .getItems()
                    .isEmpty())
        .map(policy -> policy.getMetadata().getName())
        .toList();
  }

  @Test
  void aPickerThatIsPausedFromTheBeginningMakesNothing() {
    operator.close();
    // Where pools are adopted, this one may be before its EndpointPicker is seen.
    operator = new OperatorUnderTest(cluster, pool, false);
    create("paused: true");
    pool.createPool();
    pool.awaitPicker("mine", "Paused", "True/PausedBySpec");
    pool.awaitPool("Programmed", "Unknown/Pending");
    assertThat(pool.poolMessage("Programmed")).contains("set spec.paused to false");
    pool.awaitPool("ResolvedRefs", "Unknown/Pending");
    assertThat(pool.poolMessage("ResolvedRefs"))
        .isEqualTo(
            "Service picker-service is not there, and EndpointPicker mine is paused; set spec.paused to false to have it made");
    assertThat(pool.get(ConfigMap.class, PICKER)).isNull();
    assertThat(pool.get(Deployment.class, PICKER)).isNull();
  }

  private void create(String settings) {
    pool.create(
        """
        apiVersion: fairlead.io/v1alpha1
        kind: EndpointPicker
        metadata: {name: mine}
        spec:
          poolRef: {name: pool}
        """
            + settings.indent(2));
  }

  private void edit(String patch) {
    cluster
        .admin()
        .resource(pool.need(EndpointPicker.class, "mine"))
        .patch(PatchContext.of(PatchType.JSON_MERGE), patch);
  }

  private int replicas() {
    return pool.need(Deployment.class, PICKER).getSpec().getReplicas();
  }

  private List<AuditLog.Request> writesOfChildren() {
    return operator.writes().stream().filter(write -> CHILDREN.contains(write.resource())).toList();
  }
}
