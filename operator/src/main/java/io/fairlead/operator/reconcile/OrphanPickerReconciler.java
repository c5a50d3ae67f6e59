package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.operator.apply.Events;
import io.fairlead.operator.apply.StatusApplier;
import io.fairlead.operator.observe.PoolNames;
import io.fairlead.operator.observe.Pools;
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
import org.jspecify.annotations.Nullable;

/**
 * Tells EndpointPickers that name no pool, or one that is not there. All others are told by the
 * {@link PoolReconciler} of their pool. Every change wakes this one, status included, so that
 * whichever wrote last on stale knowledge is put right.
 */
@ControllerConfiguration(name = "orphan-picker", generationAwareEventProcessing = false)
public final class OrphanPickerReconciler implements Reconciler<EndpointPicker> {
  private final StatusApplier statuses;
  private final Pools all;
  private @Nullable NamedPools<EndpointPicker> pools;

  /**
   * @param all pools that there are
   * @param events where transitions are told
   */
  public OrphanPickerReconciler(
      Pools all, KubernetesClient client, InstantSource clock, Events events) {
    this.all = all;
    this.statuses = new StatusApplier(client, clock, events);
  }

  @Override
  public List<EventSource<?, EndpointPicker>> prepareEventSources(
      EventSourceContext<EndpointPicker> context) {
    NamedPools<EndpointPicker> prepared = new NamedPools<>(context, all, PoolNames::of);
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

  private static Verdict missing(EndpointPicker picker) {
    return PoolNames.problem(picker)
        .map(problem -> Verdict.no(Reason.INVALID_SPEC, problem))
        .orElseGet(
            () ->
                Verdict.pending(
                    "InferencePool %s is not in namespace %s; create it or correct spec.poolRef"
                        .formatted(PoolNames.of(picker), picker.getMetadata().getNamespace())));
  }
}
