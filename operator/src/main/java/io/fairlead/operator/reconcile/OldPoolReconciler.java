package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.OldInferencePool;
import io.fairlead.operator.apply.Events;
import io.fairlead.operator.apply.LostEntries;
import io.fairlead.operator.apply.RolloutTurns;
import io.fairlead.operator.observe.Pools;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/**
 * Serves a pool of the older group as the {@link PoolReconciler} serves any, unless there is one of
 * v1 that has its name: of the two only that one is served, and everything that names a pool means
 * it. Only this one writes to the older.
 */
@ControllerConfiguration(
    name = OldPoolReconciler.NAME,
    generationAwareEventProcessing = false,
    triggerReconcilerOnAllEvents = true)
public final class OldPoolReconciler implements Reconciler<OldInferencePool> {
  /** By which the framework calls it. */
  static final String NAME = "old-pool";

  private final PoolReconciler reconciler;
  private final Pools settled;
  private final Pools there;

  /**
   * @param settled pools of v1
   * @param there pools of the older group: what is none for those who name pools is none here
   * @param turns shared with whoever else rolls pickers out
   * @param events where transitions are told
   * @param lostEntries where removed entries are counted, shared like {@code turns}
   */
  public OldPoolReconciler(
      Pools settled,
      Pools there,
      Settings settings,
      RolloutTurns turns,
      KubernetesClient client,
      InstantSource clock,
      Events events,
      LostEntries lostEntries) {
    this.settled = settled;
    this.there = there;
    reconciler = new PoolReconciler(settings, turns, settled, client, clock, events, lostEntries);
  }

  /** See {@link PoolReconciler#deletions()}. */
  public Metrics deletions() {
    return reconciler.deletions(NAME);
  }

  @Override
  @SuppressWarnings("unchecked") // every pool of the older group is an InferencePool
  public List<EventSource<?, OldInferencePool>> prepareEventSources(
      EventSourceContext<OldInferencePool> context) {
    List<EventSource<?, OldInferencePool>> sources = new ArrayList<>();
    sources.add(new PoolEvents<>(Pools.both(settled, there)));
    // What names no pool of either group is told where those of v1 are served.
    reconciler
        .sources((EventSourceContext<InferencePool>) (EventSourceContext<?>) context, null)
        .forEach(
            source -> sources.add((EventSource<?, OldInferencePool>) (EventSource<?, ?>) source));
    return sources;
  }

  @Override
  @SuppressWarnings("unchecked") // every pool of the older group is an InferencePool
  public UpdateControl<OldInferencePool> reconcile(
      OldInferencePool pool, Context<OldInferencePool> context) {
    String namespace = pool.getMetadata().getNamespace();
    String name = pool.getMetadata().getName();
    boolean stays = !context.isPrimaryResourceDeleted();
    // It is woken once it is. Without the kind, or the right to read it, the informer goes on
    // holding what it had; to tell of that would undo, for ever, what is told of pools that are
    // gone.
    if (stays && settled.known(namespace) && !there.has(namespace, name)) {
      return UpdateControl.noUpdate();
    }
    if (!settled.known(namespace)) {
      // Which of them has one of v1 that counts, nobody knows.
      return stays && there.has(namespace, name)
          ? (UpdateControl<OldInferencePool>)
              (UpdateControl<?>) reconciler.await(InferencePool.class, pool, context.getClient())
          : UpdateControl.<OldInferencePool>noUpdate().rescheduleAfter(PoolReconciler.LOOK_AGAIN);
    }
    UpdateControl<InferencePool> then =
        stays && settled.has(namespace, name)
            ? reconciler.supersede(pool, superseded(name))
            : reconciler.reconcile(pool, (Context<InferencePool>) (Context<?>) context);
    return (UpdateControl<OldInferencePool>) (UpdateControl<?>) then;
  }

  private static Verdict superseded(String name) {
    return Verdict.no(
        Reason.SUPERSEDED,
        "InferencePool %s of %s has the name, too, and only that one is served and has its models; delete this one once no route refers to it, or give it another name"
            .formatted(name, InferencePool.GROUP));
  }
}
