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
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Writes the status of objects that name no pool, or one that is not there. All others are told by
 * the {@link PoolReconciler} of their pool.
 */
final class OrphanTelling implements Orphaned {
  /** How soon to look again while nobody can say what became of pools. */
  private static final Duration UNSURE = Duration.ofSeconds(1);

  private final StatusApplier statuses;
  private final Adoption adoption;
  private final Predicate<@Nullable String> isSure;
  private final Function<@Nullable String, Optional<Map<ConditionType, Verdict>>> whyUnknown;

  /**
   * @param isSure whether a pool that is not seen in a namespace is not there: where its whole kind
   *     goes, the same is seen
   * @param whyUnknown the conditions of a pool in a namespace of which it is not known which pools
   *     there are; empty where waiting will do
   */
  OrphanTelling(
      StatusApplier statuses,
      Adoption adoption,
      Predicate<@Nullable String> isSure,
      Function<@Nullable String, Optional<Map<ConditionType, Verdict>>> whyUnknown) {
    this.statuses = statuses;
    this.adoption = adoption;
    this.isSure = isSure;
    this.whyUnknown = whyUnknown;
  }

  @Override
  public Optional<Duration> model(InferenceModel model) {
    if (!isSure.test(model.getMetadata().getNamespace())) {
      return unsure(poolsUnknown(model, () -> true));
    }
    JudgedModel judged = PoolDesire.rejected(model, PoolCompiler.withoutPool(model));
    Verdict none = Verdict.pending("The model has no pool");
    Verdict accepted = kept(model).orElse(judged.accepted());
    return statuses.writeUnlessOthers(model, ModelStatus.of(accepted, judged.resolvedRefs(), none));
  }

  @Override
  public Optional<Duration> picker(EndpointPicker picker) {
    if (!isSure.test(picker.getMetadata().getNamespace())) {
      return unsure(poolsUnknown(picker, () -> true));
    }
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

  private static Optional<Duration> unsure(Optional<Duration> again) {
    return Optional.of(again.orElse(UNSURE));
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
    String namespace = object.getMetadata().getNamespace();
    boolean sure = isSure.test(namespace);
    Optional<Verdict> unknown =
        sure
            ? Optional.empty()
            : whyUnknown.apply(namespace).map(verdicts -> verdicts.get(ConditionType.READY));
    if (!sure && unknown.isEmpty()) {
      return Optional.of(UNSURE);
    }
    String pool = PoolMembers.pool(object);
    JudgedObject judged =
        pool == null
            ? UpstreamJudge.poolless(object)
            : UpstreamJudge.orphan(object, pool, unknown.orElse(null));
    Verdict accepted = kept(object).orElse(judged.accepted());
    Optional<Duration> again =
        statuses.writeUnlessOthers(
            object, new JudgedObject(object, accepted, judged.resolvedRefs()).verdicts());
    return sure ? again : Optional.of(again.orElse(PoolReconciler.LOOK_AGAIN));
  }
}
