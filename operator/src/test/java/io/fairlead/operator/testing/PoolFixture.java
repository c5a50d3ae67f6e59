package io.fairlead.operator.testing;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentStatusBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.ParentStatus;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.children.Labels;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One namespace with a pool and its models, and the parts that Kubernetes and the picker play. */
public final class PoolFixture {
  public static final String POOL = "pool";
  public static final String PICKER = "pool-epp";

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
    create(
        """
        apiVersion: inference.networking.k8s.io/v1
        kind: InferencePool
        metadata: {name: pool}
        spec:
          selector: {matchLabels: {app: vllm}}
          targetPorts: [{number: 8000}]
          endpointPickerRef: {name: picker-service, port: {number: 9002}}
        """);
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

  public void create(String yaml) {
    client
        .load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)))
        .inNamespace(namespace)
        .create();
  }

  public <T extends HasMetadata> @Nullable T get(Class<T> kind, String name) {
    return client.resources(kind).inNamespace(namespace).withName(name).get();
  }

  public <T extends HasMetadata> T need(Class<T> kind, String name) {
    return Objects.requireNonNull(get(kind, name), kind.getSimpleName() + " " + name);
  }

  public void delete(Class<? extends HasMetadata> kind, String name) {
    client.resources(kind).inNamespace(namespace).withName(name).delete();
  }

  /** The pool's conditions in our entry as {@code type=status/reason}; empty without an entry. */
  public Map<String, String> poolConditions() {
    InferencePool pool = need(InferencePool.class, POOL);
    return pool.getStatus() == null
        ? Map.of()
        : pool.getStatus().parents().stream()
            .filter(parent -> "fairlead.io/operator".equals(parent.controllerName()))
            .map(ParentStatus::conditions)
            .map(PoolFixture::brief)
            .findFirst()
            .orElse(Map.of());
  }

  /** The model's conditions as {@code status/reason} by type. */
  public Map<String, String> modelConditions(String name) {
    InferenceModel model = need(InferenceModel.class, name);
    return model.getStatus() == null ? Map.of() : brief(model.getStatus().conditions());
  }

  public static Map<String, String> brief(List<Condition> conditions) {
    return conditions.stream()
        .collect(Collectors.toMap(Condition::getType, c -> c.getStatus() + "/" + c.getReason()));
  }

  public String configHash() {
    return String.valueOf(
        need(ConfigMap.class, PICKER).getMetadata().getAnnotations().get(Labels.CONFIG_HASH));
  }

  /** The generated document. */
  public String config() {
    return String.valueOf(need(ConfigMap.class, PICKER).getData().get("config.yaml"));
  }

  /** What the Deployment controller and a kubelet do: the Deployment is available with one pod. */
  public void becomeAvailable() {
    Deployment deployment = need(Deployment.class, PICKER);
    deployment.setStatus(
        new DeploymentStatusBuilder()
            .withObservedGeneration(deployment.getMetadata().getGeneration())
            .withReplicas(1)
            .withUpdatedReplicas(1)
            .withReadyReplicas(1)
            .withAvailableReplicas(1)
            .build());
    client.resource(deployment).updateStatus();
    Pod pod =
        client
            .resource(
                new PodBuilder()
                    .withNewMetadata()
                    .withName("epp-1")
                    .withNamespace(namespace)
                    .withLabels(deployment.getSpec().getTemplate().getMetadata().getLabels())
                    .endMetadata()
                    .withNewSpec()
                    .withAutomountServiceAccountToken(false)
                    .addNewContainer()
                    .withName("epp")
                    .withImage("x")
                    .endContainer()
                    .endSpec()
                    .build())
            .create();
    pod =
        new PodBuilder(pod)
            .withNewStatus()
            .withPhase("Running")
            .addNewCondition()
            .withType("Ready")
            .withStatus("True")
            .endCondition()
            .endStatus()
            .build();
    client.resource(pod).updateStatus();
  }

  /** What the picker does: it reports in a Lease that its pod owns. */
  public void report(PickerReport report) {
    Pod pod = need(Pod.class, "epp-1");
    Lease lease =
        new LeaseBuilder()
            .withNewMetadata()
            .withName("epp-1")
            .withNamespace(namespace)
            .addToLabels(Labels.PICKER, PICKER)
            .addToAnnotations(PickerReport.ANNOTATION, report.toJson())
            .addNewOwnerReference()
            .withApiVersion("v1")
            .withKind("Pod")
            .withName("epp-1")
            .withUid(pod.getMetadata().getUid())
            .endOwnerReference()
            .endMetadata()
            .build();
    client.resource(lease).serverSideApply();
  }

  /** The picker runs the current config and has endpoints. */
  public void reportCurrent() {
    report(
        new PickerReport(
            namespace + "/pool", configHash(), 1, null, new PickerReport.Endpoints(3, 3, null)));
  }

  /** Resource versions of all that the operator writes. */
  public Map<String, String> versions() {
    List<Class<? extends HasMetadata>> kinds =
        List.of(
            InferencePool.class,
            InferenceModel.class,
            EndpointPicker.class,
            ServiceAccount.class,
            RoleBinding.class,
            ConfigMap.class,
            Service.class,
            Deployment.class);
    return kinds.stream()
        .flatMap(kind -> client.resources(kind).inNamespace(namespace).list().getItems().stream())
        .collect(
            Collectors.toMap(
                o -> o.getKind() + "/" + o.getMetadata().getName(),
                o -> o.getMetadata().getResourceVersion()));
  }
}
