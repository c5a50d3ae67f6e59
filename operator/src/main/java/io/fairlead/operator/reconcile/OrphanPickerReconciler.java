package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.PoolReference;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.apply.StatusApplier;
import io.fairlead.operator.observe.Watched;
import io.fairlead.operator.status.Verdict;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Tells EndpointPickers that name no pool, or one that is not there. All others are told by the
 * {@link PoolReconciler} of their pool. Every change wakes this one, status included, so that
 * whichever wrote last on stale knowledge is put right.
 */
@ControllerConfiguration(name = "orphan-picker", generationAwareEventProcessing = false)
public final class OrphanPickerReconciler implements Reconciler<EndpointPicker> {
  private static final String BY_POOL = "pool";

  private final StatusApplier statuses;
  private @Nullable Watched<InferencePool, EndpointPicker> pools;

  public OrphanPickerReconciler(KubernetesClient client, InstantSource clock) {
    this.statuses = new StatusApplier(client, clock);
  }

  @Override
  public List<EventSource<?, EndpointPicker>> prepareEventSources(
      EventSourceContext<EndpointPicker> context) {
    IndexerResourceCache<EndpointPicker> pickers = context.getPrimaryCache();
    pickers.addIndexers(
        Map.of(
            BY_POOL,
            picker -> {
              String pool = pool(picker);
              return pool == null
                  ? List.of()
                  : List.of(Watched.key(picker.getMetadata().getNamespace(), pool));
            }));
    Watched<InferencePool, EndpointPicker> watched =
        new Watched<>(
            InferencePool.class,
            null,
            pool -> null,
            pool ->
                Watched.ids(
                    pickers.byIndex(
                        BY_POOL,
                        Watched.key(
                            pool.getMetadata().getNamespace(), pool.getMetadata().getName()))),
            context);
    pools = watched;
    return List.of(watched);
  }

  @Override
  public UpdateControl<EndpointPicker> reconcile(
      EndpointPicker picker, Context<EndpointPicker> context) {
    Watched<InferencePool, EndpointPicker> informer = pools;
    String pool = pool(picker);
    if (informer == null || picker.isMarkedForDeletion()) {
      return UpdateControl.noUpdate();
    }
    if (pool == null) {
      PickerTelling.conditionsOnly(
          statuses,
          picker,
          Verdict.no("InvalidSpec", "spec.poolRef.name is missing; name an InferencePool"));
    } else if (informer.get(new ResourceID(pool, picker.getMetadata().getNamespace())).isEmpty()) {
      PickerTelling.conditionsOnly(
          statuses,
          picker,
          Verdict.pending(
              "InferencePool %s is not in namespace %s; create it or correct spec.poolRef"
                  .formatted(pool, picker.getMetadata().getNamespace())));
    }
    return UpdateControl.noUpdate();
  }

  private static @Nullable String pool(EndpointPicker picker) {
    PoolReference ref = picker.getSpec() == null ? null : picker.getSpec().poolRef();
    return ref == null ? null : ref.name();
  }
}
