package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.operator.apply.Attempts;
import io.fairlead.operator.apply.ChildApplier;
import io.fairlead.operator.observe.Observation;
import java.util.List;

/** Deletes children that are no longer wanted. */
final class Pruner {
  private final ChildApplier children;

  Pruner(ChildApplier children) {
    this.children = children;
  }

  /** Deletes all that the pool controls, each by an attempt of its own. */
  void all(Observation seen, KubernetesClient client, Attempts attempts) {
    seen.children().stream()
        .filter(child -> !child.isMarkedForDeletion())
        .forEach(child -> attempts.attempt(() -> children.delete(child, client)));
  }

  /**
   * Deletes what the pool controls and {@code desired} lacks. A Service that was replaced goes only
   * after the new one leads somewhere, so that a gateway always has an address. Each is an attempt
   * of its own: a refusal for one holds for no other.
   *
   * @return whether nothing is left to delete
   */
  boolean leftovers(
      List<HasMetadata> desired, Observation seen, KubernetesClient client, Attempts attempts) {
    boolean done = true;
    for (HasMetadata child : seen.children()) {
      if (child.isMarkedForDeletion() || desired.stream().anyMatch(want -> same(want, child))) {
        continue;
      }
      if (child instanceof Service && !replaced(desired, client)) {
        done = false;
      } else {
        attempts.attempt(() -> children.delete(child, client));
      }
    }
    return done;
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
                    .flatMap(slice -> slice.getEndpoints().stream())
                    .anyMatch(
                        endpoint ->
                            endpoint.getConditions() == null
                                || !Boolean.FALSE.equals(endpoint.getConditions().getReady())));
  }
}
