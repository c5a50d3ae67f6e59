package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.PoolReference;
import io.fairlead.crds.compile.PoolCompiler;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.apply.StatusApplier;
import io.fairlead.operator.desire.CompiledPool.JudgedModel;
import io.fairlead.operator.desire.PoolDesire;
import io.fairlead.operator.observe.Watched;
import io.fairlead.operator.status.ModelStatus;
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
 * Tells models that name no pool, or one that is not there. All others are told by the {@link
 * PoolReconciler} of their pool. Every change wakes this one, status included, so that whichever
 * wrote last on stale knowledge is put right.
 */
@ControllerConfiguration(name = "orphan-model", generationAwareEventProcessing = false)
public final class OrphanModelReconciler implements Reconciler<InferenceModel> {
  private static final String BY_POOL = "pool";

  private final StatusApplier statuses;
  private @Nullable Watched<InferencePool, InferenceModel> pools;

  public OrphanModelReconciler(KubernetesClient client, InstantSource clock) {
    this.statuses = new StatusApplier(client, clock);
  }

  @Override
  public List<EventSource<?, InferenceModel>> prepareEventSources(
      EventSourceContext<InferenceModel> context) {
    IndexerResourceCache<InferenceModel> models = context.getPrimaryCache();
    models.addIndexers(
        Map.of(
            BY_POOL,
            model -> {
              String pool = pool(model);
              return pool == null
                  ? List.of()
                  : List.of(Watched.key(model.getMetadata().getNamespace(), pool));
            }));
    Watched<InferencePool, InferenceModel> watched =
        new Watched<>(
            InferencePool.class,
            null,
            pool -> null,
            pool ->
                Watched.ids(
                    models.byIndex(
                        BY_POOL,
                        Watched.key(
                            pool.getMetadata().getNamespace(), pool.getMetadata().getName()))),
            context);
    pools = watched;
    return List.of(watched);
  }

  @Override
  public UpdateControl<InferenceModel> reconcile(
      InferenceModel model, Context<InferenceModel> context) {
    Watched<InferencePool, InferenceModel> informer = pools;
    String pool = pool(model);
    if (informer == null || model.isMarkedForDeletion()) {
      return UpdateControl.noUpdate();
    }
    if (pool == null
        || informer.get(new ResourceID(pool, model.getMetadata().getNamespace())).isEmpty()) {
      JudgedModel judged = PoolDesire.rejected(model, PoolCompiler.withoutPool(model));
      Verdict none = Verdict.pending("The model has no pool");
      statuses.write(model, ModelStatus.of(judged.accepted(), judged.resolvedRefs(), none));
    }
    return UpdateControl.noUpdate();
  }

  private static @Nullable String pool(InferenceModel model) {
    PoolReference ref = model.getSpec() == null ? null : model.getSpec().poolRef();
    return ref == null ? null : ref.name();
  }
}
