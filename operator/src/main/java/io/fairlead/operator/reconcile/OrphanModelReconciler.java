package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.compile.PoolCompiler;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.apply.Events;
import io.fairlead.operator.apply.StatusApplier;
import io.fairlead.operator.desire.CompiledPool.JudgedModel;
import io.fairlead.operator.desire.PoolDesire;
import io.fairlead.operator.observe.PoolNames;
import io.fairlead.operator.observe.Pools;
import io.fairlead.operator.status.ModelStatus;
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
 * Tells models that name no pool, or one that is not there. All others are told by the {@link
 * PoolReconciler} of their pool. Every change wakes this one, status included, so that whichever
 * wrote last on stale knowledge is put right.
 */
@ControllerConfiguration(name = "orphan-model", generationAwareEventProcessing = false)
public final class OrphanModelReconciler implements Reconciler<InferenceModel> {
  private final StatusApplier statuses;
  private final Pools all;
  private @Nullable NamedPools<InferenceModel> pools;

  /**
   * @param all pools that there are
   * @param events where transitions are told
   */
  public OrphanModelReconciler(
      Pools all, KubernetesClient client, InstantSource clock, Events events) {
    this.all = all;
    this.statuses = new StatusApplier(client, clock, events);
  }

  @Override
  public List<EventSource<?, InferenceModel>> prepareEventSources(
      EventSourceContext<InferenceModel> context) {
    NamedPools<InferenceModel> prepared = new NamedPools<>(context, all, PoolNames::of);
    pools = prepared;
    return prepared.sources();
  }

  @Override
  public UpdateControl<InferenceModel> reconcile(
      InferenceModel model, Context<InferenceModel> context) {
    if (pools != null && !pools.known(model)) {
      return UpdateControl.<InferenceModel>noUpdate().rescheduleAfter(NamedPools.LOOK_AGAIN);
    }
    if (pools != null && !model.isMarkedForDeletion() && !pools.found(model)) {
      JudgedModel judged = PoolDesire.rejected(model, PoolCompiler.withoutPool(model));
      Verdict none = Verdict.pending("The model has no pool");
      statuses.writeUnlessOthers(
          model, ModelStatus.of(judged.accepted(), judged.resolvedRefs(), none));
    }
    return UpdateControl.noUpdate();
  }
}
