package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
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
import io.fairlead.operator.status.ConditionType;
import io.fairlead.operator.status.ModelStatus;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes the status of objects that name no pool, or one that is not there. All others are told by
 * the {@link PoolReconciler} of their pool.
 */
final class OrphanTelling implements Orphaned {
  private final StatusApplier statuses;
  private final Adoption adoption;
  private final Function<@Nullable String, Optional<Map<ConditionType, Verdict>>> whyUnknown;

  /**
   * @param whyUnknown the conditions of a pool in a namespace of which it is not known which pools
   *     there are; empty where waiting will do
   */
  OrphanTelling(
      StatusApplier statuses,
      Adoption adoption,
      Function<@Nullable String, Optional<Map<ConditionType, Verdict>>> whyUnknown) {
    this.statuses = statuses;
    this.adoption = adoption;
    this.whyUnknown = whyUnknown;
  }

  @Override
  public Optional<Duration> model(InferenceModel model) {
    JudgedModel judged = PoolDesire.rejected(model, PoolCompiler.withoutPool(model));
    Verdict none = Verdict.pending("The model has no pool");
    Verdict accepted = kept(model).orElse(judged.accepted());
    return statuses.writeUnlessOthers(model, ModelStatus.of(accepted, judged.resolvedRefs(), none));
  }

  @Override
  public Optional<Duration> picker(EndpointPicker picker) {
    return PickerTelling.conditionsOnly(
        statuses, picker, kept(picker).orElseGet(() -> missing(picker)));
  }

  @Override
  public Optional<Duration> poolsUnknown(InferenceModel model, BooleanSupplier still) {
    return whyUnknown
        .apply(model.getMetadata().getNamespace())
        .filter(any -> still.getAsBoolean())
        .map(
            verdicts ->
                statuses
                    .writeUnlessOthers(model, ModelStatus.unseen(verdicts))
                    .orElse(PoolReconciler.LOOK_AGAIN));
  }

  @Override
  public Optional<Duration> poolsUnknown(EndpointPicker picker, BooleanSupplier still) {
    return whyUnknown
        .apply(picker.getMetadata().getNamespace())
        .filter(any -> still.getAsBoolean())
        .map(
            verdicts ->
                PickerTelling.left(statuses, picker, verdicts).orElse(PoolReconciler.LOOK_AGAIN));
  }

  /** Of one that is being deleted: that its pool is not there is no more to be mended. */
  private static Optional<Verdict> kept(HasMetadata object) {
    return object.isMarkedForDeletion()
        ? Optional.of(KeptObjects.kept(object, ""))
        : Optional.empty();
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
  public Optional<Duration> upstream(GenericKubernetesResource object) {
    if (adoption != Adoption.ALL && !StatusApplier.told(object)) {
      return Optional.empty();
    }
    String pool = PoolMembers.pool(object);
    JudgedObject judged =
        pool == null ? UpstreamJudge.poolless(object) : UpstreamJudge.orphan(object, pool);
    Verdict accepted = kept(object).orElse(judged.accepted());
    return statuses.writeUnlessOthers(
        object, new JudgedObject(object, accepted, judged.resolvedRefs()).verdicts());
  }
}
