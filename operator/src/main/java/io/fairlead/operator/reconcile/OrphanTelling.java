package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fairlead.crds.compile.PoolCompiler;
import io.fairlead.crds.compile.PoolMembers;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.apply.StatusApplier;
import io.fairlead.operator.desire.CompiledPool.JudgedModel;
import io.fairlead.operator.desire.CompiledPool.JudgedObject;
import io.fairlead.operator.desire.PoolDesire;
import io.fairlead.operator.desire.UpstreamJudge;
import io.fairlead.operator.observe.Adoption;
import io.fairlead.operator.observe.Orphaned;
import io.fairlead.operator.observe.PoolNames;
import io.fairlead.operator.status.ModelStatus;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;

/**
 * Writes the status of objects that name no pool, or one that is not there. All others are told by
 * the {@link PoolReconciler} of their pool.
 */
final class OrphanTelling implements Orphaned {
  private final StatusApplier statuses;
  private final Adoption adoption;

  OrphanTelling(StatusApplier statuses, Adoption adoption) {
    this.statuses = statuses;
    this.adoption = adoption;
  }

  @Override
  public void model(InferenceModel model) {
    JudgedModel judged = PoolDesire.rejected(model, PoolCompiler.withoutPool(model));
    Verdict none = Verdict.pending("The model has no pool");
    statuses.writeUnlessOthers(
        model, ModelStatus.of(judged.accepted(), judged.resolvedRefs(), none));
  }

  @Override
  public void picker(EndpointPicker picker) {
    PickerTelling.conditionsOnly(statuses, picker, missing(picker));
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

  /** What was said of it before is no longer true. */
  @Override
  public void upstream(GenericKubernetesResource object) {
    if (adoption == Adoption.ALL || StatusApplier.told(object)) {
      String pool = PoolMembers.pool(object);
      JudgedObject judged =
          pool == null ? UpstreamJudge.poolless(object) : UpstreamJudge.orphan(object, pool);
      statuses.writeUnlessOthers(object, judged.verdicts());
    }
  }
}
