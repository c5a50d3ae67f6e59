package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentStatus;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.operator.apply.Attempts;
import io.fairlead.operator.apply.ChildApplier;
import io.fairlead.operator.apply.ChildFailure;
import io.fairlead.operator.children.Labels;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.Ownership;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** Deletes children that are no longer wanted. */
final class Pruner {
  private final ChildApplier children;

  Pruner(ChildApplier children) {
    this.children = children;
  }

  /**
   * Deletes all that was made for this very pool, each by an attempt of its own; a NetworkPolicy
   * after the pods that it is for, whose end wakes the pool.
   *
   * @param stuck gets what the API server does not let the operator delete
   */
  void all(Observation seen, KubernetesClient client, Attempts attempts, List<ChildFailure> stuck) {
    seen.own().stream()
        .filter(child -> !child.isMarkedForDeletion() && !isNeeded(child, seen))
        .forEach(child -> delete(child, client, attempts, stuck));
  }

  private void delete(
      HasMetadata child, KubernetesClient client, Attempts attempts, List<ChildFailure> stuck) {
    try {
      children.delete(child, client);
    } catch (KubernetesClientException e) {
      attempts.attempt(() -> stuck.add(children.stays(child, e)));
    }
  }

  /**
   * Deletes what was made for the pool and {@code desired} lacks. A Service that was replaced goes
   * only after the new one leads somewhere, so that a gateway always has an address; one that a
   * pool of the older group names goes with that pool; a NetworkPolicy goes after the pods that it
   * is for, whose end wakes the pool. Each is an attempt of its own: a refusal for one holds for no
   * other.
   *
   * @param stuck gets what the API server does not let the operator delete
   * @return whether nothing is left to delete that nobody tells of
   */
  boolean leftovers(
      List<HasMetadata> desired,
      Observation seen,
      KubernetesClient client,
      Attempts attempts,
      List<ChildFailure> stuck) {
    boolean done = true;
    for (HasMetadata child : seen.children()) {
      if (child.isMarkedForDeletion()
          || !Ownership.isApplied(child)
          || isNeeded(child, seen)
          || isOfTheOlder(child, seen)
          || desired.stream().anyMatch(want -> same(want, child))) {
        continue;
      }
      try {
        if (child instanceof Service && !replaced(desired, client)) {
          done = false;
        } else {
          children.delete(child, client);
        }
      } catch (KubernetesClientException e) {
        attempts.attempt(() -> stuck.add(children.stays(child, e)));
      }
    }
    return done;
  }

  /**
   * Deletes only what decides on the number of pods and is wanted no more: while other children
   * can't be made it would go on doing so, against what is wanted now.
   *
   * @param stuck gets what the API server does not let the operator delete
   */
  void autoscalers(
      List<HasMetadata> desired,
      Observation seen,
      KubernetesClient client,
      Attempts attempts,
      List<ChildFailure> stuck) {
    for (HasMetadata child : seen.own()) {
      if (child instanceof HorizontalPodAutoscaler
          && !child.isMarkedForDeletion()
          && desired.stream().noneMatch(want -> same(want, child))) {
        delete(child, client, attempts, stuck);
      }
    }
  }

  /** Whether gateways that go by the older pool find the picker by it. */
  private static boolean isOfTheOlder(HasMetadata child, Observation seen) {
    return child instanceof Service && Ownership.byOlder(seen.pool(), child);
  }

  /** Whether it is the only policy for pods that are there, or may still come. */
  private static boolean isNeeded(HasMetadata child, Observation seen) {
    return child instanceof NetworkPolicy
        && (seen.pods().stream().anyMatch(pod -> Labels.leftToOwnPolicy(pod.getMetadata()))
            || seen.own().stream()
                .filter(Deployment.class::isInstance)
                .map(Deployment.class::cast)
                .anyMatch(Pruner::mayMakeSuchPods));
  }

  /** Until a rollout has ended, one of the old pods that is lost is made again. */
  private static boolean mayMakeSuchPods(Deployment deployment) {
    DeploymentStatus status = deployment.getStatus();
    return Labels.leftToOwnPolicy(deployment.getSpec().getTemplate().getMetadata())
        || status == null
        || !deployment.getMetadata().getGeneration().equals(status.getObservedGeneration())
        || !Objects.equals(status.getReplicas(), status.getUpdatedReplicas());
  }

  private static boolean same(HasMetadata one, HasMetadata other) {
    return one.getKind().equals(other.getKind())
        && one.getMetadata().getName().equals(other.getMetadata().getName());
  }

  private static boolean replaced(List<HasMetadata> desired, KubernetesClient client) {
    return desired.stream()
        .filter(Service.class::isInstance)
        .allMatch(
            service ->
                client
                    .discovery()
                    .v1()
                    .endpointSlices()
                    .inNamespace(service.getMetadata().getNamespace())
                    .withLabel("kubernetes.io/service-name", service.getMetadata().getName())
                    .list()
                    .getItems()
                    .stream()
                    // Null as the API server writes it while no pod is behind the Service.
                    .flatMap(slice -> Stream.ofNullable(slice.getEndpoints()))
                    .flatMap(List::stream)
                    .anyMatch(
                        endpoint ->
                            endpoint.getConditions() == null
                                || !Boolean.FALSE.equals(endpoint.getConditions().getReady())));
  }
}
