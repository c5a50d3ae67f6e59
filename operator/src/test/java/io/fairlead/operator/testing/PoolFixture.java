package io.fairlead.operator.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentStatus;
import io.fabric8.kubernetes.api.model.apps.DeploymentStatusBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.document.ConfigMapTexts;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.ParentStatus;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.children.Labels;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.awaitility.core.ThrowingRunnable;
import org.jspecify.annotations.Nullable;

/** One namespace with a pool and its models, and the parts that Kubernetes and the picker play. */
public final class PoolFixture {
  public static final String POOL = "pool";
  public static final String PICKER = "pool-epp";

  /** The picker's pod. */
  public static final String POD = "epp-1";

  private final KubernetesClient client;
  private final String namespace;

  public PoolFixture(KubernetesClient client, String namespace) {
    this.client = client;
    this.namespace = namespace;
  }

  public String namespace() {
    return namespace;
  }

  public void createPool() {
    createPool(POOL, "picker-service");
  }

  public void createPool(String name, String service) {
    create(
        """
        apiVersion: inference.networking.k8s.io/v1
        kind: InferencePool
        metadata: {name: %s}
        spec:
          selector: {matchLabels: {app: vllm}}
          targetPorts: [{number: 8000}]
          endpointPickerRef: {name: %s, port: {number: 9002}}
        """
            .formatted(name, service));
  }

  /** A pool with an EndpointPicker whose model servers listen on this port. */
  public void createPoolAt(int port) {
    createPicker("mine", "{name: pool}");
    create(
        """
        apiVersion: inference.networking.k8s.io/v1
        kind: InferencePool
        metadata: {name: pool}
        spec:
          selector: {matchLabels: {app: vllm}}
          targetPorts: [{number: %d}]
          endpointPickerRef: {name: picker-service, port: {number: 9002}}
        """
            .formatted(port));
  }

  /** A pod of the pool's that is Ready at this address. */
  public void createModelServer(String name, String address) {
    Pod pod =
        client
            .resource(
                new PodBuilder()
                    .withNewMetadata()
                    .withName(name)
                    .withNamespace(namespace)
                    .withLabels(Map.of("app", "vllm"))
                    .endMetadata()
                    .withNewSpec()
                    .withAutomountServiceAccountToken(false)
                    .addNewContainer()
                    .withName("server")
                    .withImage("x")
                    .endContainer()
                    .endSpec()
                    .build())
            .create();
    client
        .resource(
            new PodBuilder(pod)
                .withNewStatus()
                .withPhase("Running")
                .withPodIP(address)
                .addNewPodIP(address)
                .addNewCondition()
                .withType("Ready")
                .withStatus("True")
                .endCondition()
                .endStatus()
                .build())
        .updateStatus();
  }

  public void createModel(String object, String modelName, int weight) {
    createModel(object, modelName, weight, POOL);
  }

  public void createModel(String object, String modelName, int weight, String pool) {
    create(
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferenceModel
        metadata: {name: %s}
        spec:
          modelName: %s
          criticality: Critical
          poolRef: {group: inference.networking.k8s.io, name: %s}
          targetModels: [{name: a, weight: %d}, {name: b, weight: 10}]
        """
            .formatted(object, modelName, pool, weight));
  }

  /**
   * A picker with settings of its own.
   *
   * @param poolRef in flow style
   */
  public void createPicker(String name, String poolRef) {
    create(
        """
        apiVersion: fairlead.io/v1alpha1
        kind: EndpointPicker
        metadata: {name: %s}
        spec: {poolRef: %s, replicas: 2, image: "example.test/own:2"}
        """
            .formatted(name, poolRef));
  }

  /** The Service that pools name, as somebody else's. */
  public void createServiceOfAnother() {
    create(
        """
        apiVersion: v1
        kind: Service
        metadata: {name: picker-service}
        spec: {ports: [{port: 9002}]}
        """);
  }

  /** A Service that another controller of InferencePools has made for this pool. */
  public Service createServiceOfAnotherController(String name, InferencePool owner) {
    return client
        .resource(
            new ServiceBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(namespace)
                .addNewOwnerReference()
                .withApiVersion(owner.getApiVersion())
                .withKind("InferencePool")
                .withName(owner.getMetadata().getName())
                .withUid(owner.getMetadata().getUid())
                .withController(true)
                .endOwnerReference()
                .endMetadata()
                .withNewSpec()
                .addNewPort()
                .withPort(9002)
                .endPort()
                .endSpec()
                .build())
        .create();
  }

  /** Another controller says in an object's status that it is accepted. */
  public void acceptedByOthers(String group, String kind, String name) {
    client
        .resource(
            Serialization.unmarshal(
                """
                apiVersion: %s/v1alpha2
                kind: %s
                metadata: {name: %s, namespace: %s}
                status:
                  conditions:
                    - {type: Accepted, status: "True", reason: ByOthers, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}
                """
                    .formatted(group, kind, name, namespace),
                GenericKubernetesResource.class))
        .subresource("status")
        .patch(
            new PatchContext.Builder()
                .withPatchType(PatchType.SERVER_SIDE_APPLY)
                .withFieldManager("theirs")
                .withForce(true)
                .build());
  }

  /**
   * An InferenceObjective and an InferenceModelRewrite.
   *
   * @param group one of the two that have the kinds
   */
  public void createUpstream(String group) {
    create(
        """
        apiVersion: %1$s/v1alpha2
        kind: InferenceObjective
        metadata: {name: batch}
        spec: {priority: -5, poolRef: {name: pool}}
        ---
        apiVersion: %1$s/v1alpha2
        kind: InferenceModelRewrite
        metadata: {name: split}
        spec:
          poolRef: {name: pool}
          rules: [{matches: [{model: {value: talk}}], targets: [{modelRewrite: talk-v2}]}]
        """
            .formatted(group));
  }

  public void create(String yaml) {
    client
        .load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)))
        .inNamespace(namespace)
        .create();
  }

  public void create(HasMetadata object) {
    client.resource(object).inNamespace(namespace).create();
  }

  public <T extends HasMetadata> @Nullable T get(Class<T> kind, String name) {
    return client.resources(kind).inNamespace(namespace).withName(name).get();
  }

  /** An object that is there; where it is awaited, its absence is one more thing to wait for. */
  public <T extends HasMetadata> T need(Class<T> kind, String name) {
    T there = get(kind, name);
    if (there == null) {
      throw new AssertionError("no " + kind.getSimpleName() + " " + name);
    }
    return there;
  }

  /** All objects of a kind. */
  public <T extends HasMetadata> List<T> all(Class<T> kind) {
    return client.resources(kind).inNamespace(namespace).list().getItems();
  }

  public void delete(Class<? extends HasMetadata> kind, String name) {
    client.resources(kind).inNamespace(namespace).withName(name).delete();
  }

  /** The pool's conditions in our entry as {@code status/reason} by type; none without an entry. */
  public Map<String, String> poolConditions() {
    return brief(entry());
  }

  /** The message of a condition in our entry. */
  public String poolMessage(String type) {
    return message(entry(), type);
  }

  private static String message(List<Condition> conditions, String type) {
    return conditions.stream()
        .filter(condition -> condition.getType().equals(type))
        .map(Condition::getMessage)
        .collect(Collectors.joining());
  }

  private List<Condition> entry() {
    return entry(POOL);
  }

  /** The conditions in our entry of a pool; none without an entry. */
  public List<Condition> entry(String name) {
    InferencePool pool = need(InferencePool.class, name);
    return pool.getStatus() == null
        ? List.of()
        : pool.getStatus().parents().stream()
            .filter(ParentStatus::isOurs)
            .flatMap(parent -> parent.conditions().stream())
            .toList();
  }

  /** The picker's conditions as {@code status/reason} by type. */
  public Map<String, String> pickerConditions(String name) {
    EndpointPicker picker = need(EndpointPicker.class, name);
    return picker.getStatus() == null ? Map.of() : brief(picker.getStatus().conditions());
  }

  /** The message of a condition of the picker. */
  public String pickerMessage(String name, String type) {
    EndpointPicker picker = need(EndpointPicker.class, name);
    return picker.getStatus() == null ? "" : message(picker.getStatus().conditions(), type);
  }

  /** The model's conditions as {@code status/reason} by type. */
  public Map<String, String> modelConditions(String name) {
    InferenceModel model = need(InferenceModel.class, name);
    return model.getStatus() == null ? Map.of() : brief(model.getStatus().conditions());
  }

  /** The message of a condition of the model. */
  public String modelMessage(String name, String type) {
    InferenceModel model = need(InferenceModel.class, name);
    return model.getStatus() == null ? "" : message(model.getStatus().conditions(), type);
  }

  public static Map<String, String> brief(List<Condition> conditions) {
    conditions.forEach(condition -> SeenReasons.add(condition.getReason()));
    return conditions.stream()
        .collect(Collectors.toMap(Condition::getType, c -> c.getStatus() + "/" + c.getReason()));
  }

  public ConfigHash configHash() {
    return configHash(PICKER);
  }

  /** Which config a picker is given. */
  public ConfigHash configHash(String picker) {
    return ConfigHash.parse(
            need(ConfigMap.class, picker).getMetadata().getAnnotations().get(ConfigHash.ANNOTATION))
        .orElseThrow();
  }

  /** The generated document. */
  public String config() {
    return config(PICKER);
  }

  /** The document that a picker is given. */
  public String config(String picker) {
    try {
      return String.valueOf(ConfigMapTexts.read(need(ConfigMap.class, picker), "config.yaml"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for the condition of our entry, given as {@code status/reason}. */
  public void awaitPool(String type, String expected) {
    eventually(() -> assertThat(poolConditions()).containsEntry(type, expected));
  }

  /** Waits for the model's condition, given as {@code status/reason}. */
  public void awaitModel(String model, String type, String expected) {
    eventually(() -> assertThat(modelConditions(model)).containsEntry(type, expected));
  }

  /** Waits for the picker's condition, given as {@code status/reason}. */
  public void awaitPicker(String picker, String type, String expected) {
    eventually(() -> assertThat(pickerConditions(picker)).containsEntry(type, expected));
  }

  /** For longer than the operator leaves alone what the API server refused, 15 s. */
  private static void eventually(ThrowingRunnable holds) {
    await().atMost(Duration.ofMinutes(1)).untilAsserted(holds);
  }

  /**
   * Waits until all that the operator told so far has its Events, too. They are sent a moment after
   * the statuses that they tell of, in their order: that of a model without a pool is then the
   * last.
   */
  public void awaitEventsSent() {
    String last = "last-" + UUID.randomUUID();
    createModel(last, last, 90, "nowhere");
    eventually(
        () ->
            assertThat(all(Event.class))
                .extracting(event -> event.getInvolvedObject().getName())
                .contains(last));
    delete(InferenceModel.class, last);
  }

  /** Plays what follows a pool's creation until it is ready. */
  public void becomeReady() {
    awaitPool("Ready", "False/RolloutInProgress");
    becomeAvailable();
    AtomicReference<ConfigHash> reported = new AtomicReference<>(reportCurrent());
    eventually(
        () -> {
          // What is told of is in the config: one that comes later nobody would report.
          assertThat(all(InferenceModel.class)).allMatch(model -> model.getStatus() != null);
          // What was created just before may have come into the config since.
          if (!configHash().equals(reported.get())) {
            reported.set(reportCurrent());
          }
          // A picker that was seen late may have changed the Deployment since.
          Deployment deployment = need(Deployment.class, PICKER);
          if (!deployment
              .getStatus()
              .getObservedGeneration()
              .equals(deployment.getMetadata().getGeneration())) {
            deploymentStatus(1);
          }
          assertThat(poolConditions()).containsEntry("Ready", "True/Ready");
        });
  }

  /**
   * Waits until the Deployment is as the picker of {@link #createPicker} has it: a pool that is
   * seen before its picker is served with defaults first, and what a test says of that one's
   * rollout says nothing of the next.
   */
  public void awaitPickerCarriedOut() {
    eventually(() -> assertThat(pickerImage()).isEqualTo("example.test/own:2"));
  }

  /** The image that the Deployment's pods run. */
  public String pickerImage() {
    return image(PICKER);
  }

  /** The image that the pods of any Deployment run. */
  public String image(String deployment) {
    return need(Deployment.class, deployment)
        .getSpec()
        .getTemplate()
        .getSpec()
        .getContainers()
        .getFirst()
        .getImage();
  }

  /** What the Deployment controller and a kubelet do: the rollout ends, with a ready pod. */
  public void becomeAvailable() {
    deploymentStatus(1);
    create(DeployedPods.of(need(Deployment.class, PICKER), POD));
    podReady(true);
  }

  /** Another rollout has ended, of the pod that is there. */
  public void becomeAvailableAgain() {
    deploymentStatus(1);
  }

  /** The pod fails its readiness probe from now on. */
  public void becomeUnavailable() {
    podReady(false);
    deploymentStatus(0);
  }

  /** The pod passes its readiness probe from now on. */
  public void makePodReady() {
    podReady(true);
  }

  /** The pod is gone, and no other has come yet. */
  public void losePod() {
    delete(Pod.class, POD);
    deploymentStatus(0);
  }

  private void podReady(boolean ready) {
    podReady(POD, ready);
  }

  private void podReady(String name, boolean ready) {
    Pod pod =
        new PodBuilder(need(Pod.class, name))
            .withNewStatus()
            .withPhase("Running")
            .addNewCondition()
            .withType("Ready")
            .withStatus(ready ? "True" : "False")
            .endCondition()
            .endStatus()
            .build();
    client.resource(pod).updateStatus();
  }

  /**
   * One more ready pod of the picker, which is there until {@link #letGo} once it is deleted.
   *
   * @param report what it reported last
   */
  public void drainingPod(String name, PickerReport report) {
    Pod pod = further(name, "example.test/drain");
    client.resource(lease(pod, report.toJson())).serverSideApply();
  }

  /** One more pod of the picker, of which nothing is known yet. */
  public void startingPod(String name) {
    var _ = further(name);
  }

  /**
   * One more pod of the picker, whose container runs and is not ready.
   *
   * @param since when it runs
   */
  public void unreadyPod(String name, Instant since) {
    Pod pod =
        new PodBuilder(further(name))
            .withNewStatus()
            .withPhase("Running")
            .addNewCondition()
            .withType("Ready")
            .withStatus("False")
            .endCondition()
            .addNewContainerStatus()
            .withName("epp")
            .withImage("x")
            .withImageID("x")
            .withReady(false)
            .withRestartCount(0)
            .withNewState()
            .withNewRunning()
            .withStartedAt(since.truncatedTo(ChronoUnit.SECONDS).toString())
            .endRunning()
            .endState()
            .endContainerStatus()
            .endStatus()
            .build();
    client.resource(pod).updateStatus();
  }

  /** The pod has drained. */
  public void letGo(String pod) {
    client
        .resource(need(Pod.class, pod))
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\":{\"finalizers\":null}}");
  }

  /** A pod of the picker that was evicted and is still there, with what it reported last. */
  public void evicted(String name, PickerReport report) {
    Pod pod = further(name);
    client
        .resource(
            new PodBuilder(pod)
                .withNewStatus()
                .withPhase("Failed")
                .withReason("Evicted")
                .endStatus()
                .build())
        .updateStatus();
    client.resource(lease(pod, report.toJson())).serverSideApply();
  }

  /** One more ready pod with the picker's labels, of a Deployment that somebody copied. */
  public void readyPodOfACopy(String name) {
    Deployment copy = need(Deployment.class, PICKER);
    copy.getMetadata().setName("copy");
    create(DeployedPods.of(copy, name));
    podReady(name, true);
  }

  /** One more pod like the picker's. */
  private Pod further(String name, String... finalizers) {
    Pod further = DeployedPods.of(need(Deployment.class, PICKER), name);
    further.getMetadata().setFinalizers(List.of(finalizers));
    return client.resource(further).create();
  }

  /** Awaits that the API server refuses statuses of the pool from the operator. */
  public void awaitStatusRefused(Installed cluster) {
    PatchContext dryRun =
        new PatchContext.Builder()
            .withPatchType(PatchType.JSON_MERGE)
            .withDryRun(List.of("All"))
            .build();
    cluster.awaitRefused(
        operator ->
            operator
                .resource(need(InferencePool.class, POOL))
                .subresource("status")
                .patch(dryRun, "{\"status\":{\"parents\":[]}}"));
  }

  /** As the Deployment controller tells of a rollout that has ended. */
  private void deploymentStatus(int available) {
    Deployment deployment = need(Deployment.class, PICKER);
    int replicas = deployment.getSpec().getReplicas();
    DeploymentStatus status =
        new DeploymentStatusBuilder()
            .withObservedGeneration(deployment.getMetadata().getGeneration())
            .withReplicas(replicas)
            .withUpdatedReplicas(replicas)
            .withReadyReplicas(available)
            .withAvailableReplicas(available)
            .addNewCondition()
            .withType("Available")
            .withStatus(available > 0 ? "True" : "False")
            .withReason("MinimumReplicas" + (available > 0 ? "Available" : "Unavailable"))
            .endCondition()
            .addNewCondition()
            .withType("Progressing")
            .withStatus("True")
            .withReason("NewReplicaSetAvailable")
            .endCondition()
            .build();
    // A patch, since the operator may write meanwhile.
    client
        .resource(deployment)
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            client.getKubernetesSerialization().asJson(Map.of("status", status)));
  }

  /** What the picker does: it reports in a Lease that its pod owns. */
  public void report(PickerReport report) {
    report(report.toJson());
  }

  /** What a picker does that is older, newer or not ours: any text. */
  public void report(String report) {
    client.resource(lease(need(Pod.class, POD), report)).serverSideApply();
  }

  /** What a picker does that has nothing new to report: it says that it still gets through. */
  public void renewReport() {
    client
        .resource(
            new LeaseBuilder(need(Lease.class, POD))
                .withNewSpec()
                .withRenewTime(ZonedDateTime.now(ZoneOffset.UTC))
                .endSpec()
                .build())
        .update();
  }

  private Lease lease(Pod pod, String report) {
    return new LeaseBuilder()
        .withNewMetadata()
        .withName(pod.getMetadata().getName())
        .withNamespace(namespace)
        .addToLabels(Labels.PICKER, PICKER)
        .addToAnnotations(PickerReport.ANNOTATION, report)
        .addNewOwnerReference()
        .withApiVersion("v1")
        .withKind("Pod")
        .withName(pod.getMetadata().getName())
        .withUid(pod.getMetadata().getUid())
        .endOwnerReference()
        .endMetadata()
        .build();
  }

  /** The picker runs the current config and has endpoints. */
  public ConfigHash reportCurrent() {
    ConfigHash hash = configHash();
    report(
        new PickerReport(
            namespace + "/pool", hash, 1, null, new PickerReport.Endpoints(3, 3, null)));
    return hash;
  }

  /** Somebody else's label changes on everything that the operator watches. */
  public void touchAll(int value) {
    List<Class<? extends HasMetadata>> kinds =
        List.of(
            InferenceModel.class,
            EndpointPicker.class,
            ServiceAccount.class,
            RoleBinding.class,
            ConfigMap.class,
            Service.class,
            Deployment.class,
            PodDisruptionBudget.class,
            Lease.class,
            Pod.class,
            InferencePool.class);
    String patch = "{\"metadata\":{\"labels\":{\"example.test/touched\":\"%d\"}}}".formatted(value);
    for (Class<? extends HasMetadata> kind : kinds) {
      for (HasMetadata object : client.resources(kind).inNamespace(namespace).list().getItems()) {
        client.resource(object).patch(PatchContext.of(PatchType.JSON_MERGE), patch);
      }
    }
  }
}
