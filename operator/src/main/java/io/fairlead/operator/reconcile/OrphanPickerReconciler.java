package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.apply.Events;
import io.fairlead.operator.apply.StatusApplier;
import io.fairlead.operator.observe.ObjectNames;
import io.fairlead.operator.observe.PoolNames;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Tells EndpointPickers that name no pool, or one that is not there. All others are told by the
 * {@link PoolReconciler} of their pool. Every change wakes this one, status included, so that
 * whichever wrote last on stale knowledge is put right.
 */
@ControllerConfiguration(name = "orphan-picker", generationAwareEventProcessing = false)
public final class OrphanPickerReconciler implements Reconciler<EndpointPicker> {
  private static final ResourceDefinitionContext OLD_KIND =
      new ResourceDefinitionContext.Builder()
          .withGroup(InferenceModel.GROUP)
          .withVersion(InferenceModel.VERSION)
          .withKind("InferencePool")
          .withPlural("inferencepools")
          .withNamespaced(true)
          .build();

  private final StatusApplier statuses;
  private final KubernetesClient client;
  private @Nullable NamedPools<EndpointPicker> pools;

  public OrphanPickerReconciler(KubernetesClient client, InstantSource clock, Events events) {
    this.statuses = new StatusApplier(client, clock, events);
    this.client = client;
  }

  @Override
  public List<EventSource<?, EndpointPicker>> prepareEventSources(
      EventSourceContext<EndpointPicker> context) {
    NamedPools<EndpointPicker> prepared = new NamedPools<>(context, PoolNames::of);
    pools = prepared;
    return prepared.sources();
  }

  @Override
  public UpdateControl<EndpointPicker> reconcile(
      EndpointPicker picker, Context<EndpointPicker> context) {
    if (pools != null && !pools.known(picker)) {
      return UpdateControl.<EndpointPicker>noUpdate().rescheduleAfter(NamedPools.LOOK_AGAIN);
    }
    if (pools != null && !picker.isMarkedForDeletion() && !pools.found(picker)) {
      PickerTelling.conditionsOnly(statuses, picker, missing(picker));
    }
    return UpdateControl.noUpdate();
  }

  private Verdict missing(EndpointPicker picker) {
    Optional<String> problem = PoolNames.problem(picker);
    if (problem.isPresent()) {
      return Verdict.no(Reason.INVALID_SPEC, problem.get());
    }
    String pool = String.valueOf(PoolNames.of(picker));
    String namespace = picker.getMetadata().getNamespace();
    return isOld(namespace, pool)
        ? Verdict.no(
            Reason.POOL_NOT_SERVED,
            "InferencePool %s of namespace %s is of group %s, which is not served; convert it: kubectl get inferencepools.%s %s -o yaml | fairlead convert | kubectl apply -f -"
                .formatted(pool, namespace, InferenceModel.GROUP, InferenceModel.GROUP, pool))
        : Verdict.pending(
            "InferencePool %s is not in namespace %s; create it or correct spec.poolRef"
                .formatted(pool, namespace));
  }

  /** Whether the pool is there in the group that it was in before it was settled. */
  private boolean isOld(String namespace, String pool) {
    if (!ObjectNames.isOne(pool)) {
      return false;
    }
    try {
      return client.genericKubernetesResources(OLD_KIND).inNamespace(namespace).withName(pool).get()
          != null;
    } catch (KubernetesClientException e) {
      // Then it can't be said, and what is said without it is true, too.
      return false;
    }
  }
}
