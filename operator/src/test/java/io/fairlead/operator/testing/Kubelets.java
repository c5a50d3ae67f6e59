package io.fairlead.operator.testing;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentStatusBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.operator.children.Labels;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The part of Deployment controller, kubelets and pickers of many pools: each Deployment gets one
 * ready pod, which reports each config that it is given as the one that it runs, and three
 * endpoints.
 */
public final class Kubelets implements AutoCloseable {
  private final KubernetesClient client;

  /** One and the same for a picker: what it is given last it reports last. */
  private final List<ExecutorService> workers =
      Stream.generate(Executors::newSingleThreadExecutor).limit(8).toList();

  private final Map<String, String> pods = new ConcurrentHashMap<>();
  private final List<SharedIndexInformer<?>> informers;

  /** When a picker had each config, by namespace, name and hash, as {@link System#nanoTime}. */
  private final Map<String, Long> had = new ConcurrentHashMap<>();

  /** Begins at once, in all namespaces. */
  public Kubelets(KubernetesClient client) {
    this.client = client;
    informers =
        List.of(
            client
                .apps()
                .deployments()
                .inAnyNamespace()
                .withLabelSelector(Labels.CHILDREN_SELECTOR)
                .inform(new Each<>(this::run)),
            client
                .configMaps()
                .inAnyNamespace()
                .withLabelSelector(Labels.CHILDREN_SELECTOR)
                .inform(new Each<>(this::read)));
  }

  /** When the picker had this config; null when it has not. */
  public @Nullable Long had(String namespace, String picker, ConfigHash hash) {
    return had.get(key(namespace, picker) + "/" + hash.hex());
  }

  @Override
  public void close() {
    informers.forEach(SharedIndexInformer::stop);
    workers.forEach(ExecutorService::shutdownNow);
  }

  private void run(Deployment deployment) {
    String key = key(deployment.getMetadata().getNamespace(), deployment.getMetadata().getName());
    boolean told =
        deployment.getStatus() != null
            && deployment
                .getMetadata()
                .getGeneration()
                .equals(deployment.getStatus().getObservedGeneration());
    if (!told) {
      worker(key)
          .execute(
              () -> {
                pods.computeIfAbsent(key, k -> pod(deployment));
                rolledOut(deployment);
                ConfigMap config =
                    client
                        .configMaps()
                        .inNamespace(deployment.getMetadata().getNamespace())
                        .withName(deployment.getMetadata().getName())
                        .get();
                if (config != null) {
                  report(config);
                }
              });
    }
  }

  private String pod(Deployment deployment) {
    var pod =
        client.resource(DeployedPods.of(deployment, deployment.getMetadata().getName())).create();
    client
        .resource(pod)
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
    return pod.getMetadata().getUid();
  }

  private void rolledOut(Deployment deployment) {
    var status =
        new DeploymentStatusBuilder()
            .withObservedGeneration(deployment.getMetadata().getGeneration())
            .withReplicas(1)
            .withUpdatedReplicas(1)
            .withReadyReplicas(1)
            .withAvailableReplicas(1)
            .addNewCondition()
            .withType("Available")
            .withStatus("True")
            .withReason("MinimumReplicasAvailable")
            .endCondition()
            .addNewCondition()
            .withType("Progressing")
            .withStatus("True")
            .withReason("NewReplicaSetAvailable")
            .endCondition()
            .build();
    client
        .resource(deployment)
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            client.getKubernetesSerialization().asJson(Map.of("status", status)));
  }

  private void read(ConfigMap config) {
    String key = key(config.getMetadata().getNamespace(), config.getMetadata().getName());
    worker(key)
        .execute(
            () -> {
              if (pods.containsKey(key)) {
                report(config);
              }
            });
  }

  private void report(ConfigMap config) {
    String namespace = config.getMetadata().getNamespace();
    String picker = config.getMetadata().getName();
    ConfigHash hash =
        ConfigHash.parse(config.getMetadata().getAnnotations().get(ConfigHash.ANNOTATION))
            .orElseThrow();
    had.putIfAbsent(key(namespace, picker) + "/" + hash.hex(), System.nanoTime());
    PickerReport report =
        new PickerReport(
            namespace + "/" + picker, hash, 1, null, new PickerReport.Endpoints(3, 3, null));
    client
        .resource(
            new LeaseBuilder()
                .withNewMetadata()
                .withName(picker)
                .withNamespace(namespace)
                .addToLabels(Labels.PICKER, picker)
                .addToAnnotations(PickerReport.ANNOTATION, report.toJson())
                .addNewOwnerReference()
                .withApiVersion("v1")
                .withKind("Pod")
                .withName(picker)
                .withUid(pods.get(key(namespace, picker)))
                .endOwnerReference()
                .endMetadata()
                .build())
        .serverSideApply();
  }

  private ExecutorService worker(String key) {
    return workers.get(Math.floorMod(key.hashCode(), workers.size()));
  }

  private static String key(String namespace, String name) {
    return namespace + "/" + name;
  }

  private record Each<T>(java.util.function.Consumer<T> seen) implements ResourceEventHandler<T> {
    @Override
    public void onAdd(T object) {
      seen.accept(object);
    }

    @Override
    public void onUpdate(T before, T after) {
      seen.accept(after);
    }

    @Override
    public void onDelete(T object, boolean unknown) {
      // Its pod stays: nothing here is deleted.
    }
  }
}
