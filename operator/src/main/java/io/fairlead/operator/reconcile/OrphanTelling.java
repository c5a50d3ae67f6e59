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
import io.fairlead.operator.status.ModelStatus;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes the status of objects that name no pool, or one that is not there. All others are told by
 * the {@link PoolReconciler} of their pool.
 */
final class OrphanTelling implements Orphaned {
  private final StatusApplier statuses;
  private final Adoption adoption;
  private final Function<@Nullable String, Optional<Doubt>> doubts;

  /**
   * @param doubts whether a pool that is not seen in a namespace may be there all the same; empty
   *     when it is not there
   */
  OrphanTelling(
      StatusApplier statuses,
      Adoption adoption,
      Function<@Nullable String, Optional<Doubt>> doubts) {
    this.statuses = statuses;
    this.adoption = adoption;
    this.doubts = doubts;
  }

  @Override
  public Optional<Duration> model(InferenceModel model, BooleanSupplier still) {
    return tell(
        model,
        still,
        why -> statuses.writeUnlessOthers(model, ModelStatus.unseen(Denied.verdicts(why))),
        () -> {
          JudgedModel judged = PoolDesire.rejected(model, PoolCompiler.withoutPool(model));
          Verdict none = Verdict.pending("The model has no pool");
          Verdict accepted = kept(model).orElse(judged.accepted());
          return statuses.writeUnlessOthers(
              model, ModelStatus.of(accepted, judged.resolvedRefs(), none));
        });
  }

  @Override
  public Optional<Duration> picker(EndpointPicker picker, BooleanSupplier still) {
    return tell(
        picker,
        still,
        why -> PickerTelling.left(statuses, picker, Denied.verdicts(why)),
        () ->
            PickerTelling.conditionsOnly(
                statuses, picker, kept(picker).orElseGet(() -> missing(picker))));
  }

  /** What was said of it before is no longer true. */
  @Override
  public Optional<Duration> upstream(GenericKubernetesResource object, BooleanSupplier still) {
    if (adoption != Adoption.ALL && !StatusApplier.told(object)) {
      return Optional.empty();
    }
    return tell(object, still, why -> orphan(object, why), () -> orphan(object, null));
  }

  private Optional<Duration> orphan(GenericKubernetesResource object, @Nullable Verdict why) {
    String pool = PoolMembers.pool(object);
    JudgedObject judged =
        pool == null ? UpstreamJudge.poolless(object) : UpstreamJudge.orphan(object, pool, why);
    Verdict accepted = kept(object).orElse(judged.accepted());
    return statuses.writeUnlessOthers(
        object, new JudgedObject(object, accepted, judged.resolvedRefs()).verdicts());
  }

  /**
   * Tells of an object.
   *
   * @param inDoubt writes why it is not known whether its pool is there
   * @param without writes that it is not
   */
  private Optional<Duration> tell(
      HasMetadata object,
      BooleanSupplier still,
      Function<Verdict, Optional<Duration>> inDoubt,
      Supplier<Optional<Duration>> without) {
    Optional<Doubt> doubt = doubts.apply(object.getMetadata().getNamespace());
    if (doubt.isEmpty()) {
      return without.get();
    }
    Verdict why = doubt.get().why();
    Optional<Duration> again =
        why == null || !still.getAsBoolean() ? Optional.empty() : inDoubt.apply(why);
    return Optional.of(again.orElse(doubt.get().left()));
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
}
