package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.ParentStatus;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.crds.v1alpha2.OldInferencePool;
import io.fairlead.operator.apply.Attempts;
import io.fairlead.operator.apply.PoolEntryWriter;
import io.fairlead.operator.apply.StatusApplier;
import io.fairlead.operator.children.Names;
import io.fairlead.operator.desire.CompiledPool;
import io.fairlead.operator.desire.CompiledPool.JudgedModel;
import io.fairlead.operator.desire.CompiledPool.JudgedObject;
import io.fairlead.operator.desire.UpstreamJudge;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.Serving;
import io.fairlead.operator.status.ConditionType;
import io.fairlead.operator.status.ModelStatus;
import io.fairlead.operator.status.PickerFacts;
import io.fairlead.operator.status.PoolStatus;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.ReportedTargets;
import io.fairlead.operator.status.Verdict;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes what is said of a pool: its entry, and the statuses of all that names it.
 *
 * <p>Safe to use from any thread, for one pool from one at a time.
 */
final class PoolTelling {
  /** How long models are told of one look while another is due. */
  private static final Duration LONGEST_TELLING = Duration.ofSeconds(1);

  private final PoolEntryWriter entries;
  private final StatusApplier statuses;
  private final KeptObjects kept;
  private final LastingSaturation saturation;
  private final LongSupplier nanos;

  /**
   * @param lasts how long a pool has to be full, or have room again, before its models say so
   * @param nanos a clock that never jumps
   */
  PoolTelling(PoolEntryWriter entries, StatusApplier statuses, Duration lasts, LongSupplier nanos) {
    this.entries = entries;
    this.statuses = statuses;
    this.kept = new KeptObjects(statuses, nanos);
    this.saturation = new LastingSaturation(lasts, nanos);
    this.nanos = nanos;
  }

  /** Of a pool that is served. */
  void served(
      Wanted wanted,
      List<EndpointPicker> losers,
      PickerFacts facts,
      Attempts writes,
      NextLook next,
      Context<InferencePool> context) {
    InferencePool pool = wanted.seen().pool();
    Map<ConditionType, Verdict> verdicts = PoolStatus.of(facts);
    if (pool instanceof OldInferencePool) {
      verdicts.replaceAll((type, verdict) -> verdict.worded(OldInferencePool::inItsWords));
    }
    EndpointPicker picker = wanted.picker();
    writes.attemptOrPutOff(
        () -> entries.write(pool, parent(pool, picker), PoolStatus.inEntry(verdicts)));
    models(pool, wanted.compiled(), verdicts, ReportedTargets.of(facts), writes, next, context);
    for (JudgedObject judged : wanted.compiled().upstream()) {
      writes.attemptOrPutOff(() -> statuses.write(judged.object(), judged.verdicts()));
    }
    if (picker != null) {
      Map<ConditionType, Verdict> ofPicker = new LinkedHashMap<>(verdicts);
      entries.refusal(pool).ifPresent(why -> ofPicker.put(ConditionType.STATUS_WRITTEN, why));
      writes.attemptOrPutOff(() -> PickerTelling.winner(statuses, picker, facts, ofPicker));
      losers(losers, picker, writes);
    }
  }

  private void models(
      InferencePool pool,
      CompiledPool compiled,
      Map<ConditionType, Verdict> ofPool,
      ReportedTargets targets,
      Attempts writes,
      NextLook next,
      Context<InferencePool> context) {
    Map<ConditionType, Verdict> verdicts = new LinkedHashMap<>(ofPool);
    Verdict full = verdicts.get(ConditionType.SATURATED);
    if (full != null) {
      LastingSaturation.Told told = saturation.of(pool.getMetadata().getUid(), full);
      verdicts.put(ConditionType.SATURATED, told.verdict());
      next.within(told.left());
    }
    long begun = nanos.getAsLong();
    for (JudgedModel judged : editedFirst(compiled.models())) {
      // The next look tells the others, and whoever edits one of very many need not wait for all.
      if (nanos.getAsLong() - begun >= LONGEST_TELLING.toNanos()
          && context.isNextReconciliationImminent()) {
        next.leaveRest();
        break;
      }
      writes.attemptOrPutOff(
          () ->
              statuses.write(
                  judged.model(),
                  ModelStatus.of(
                      judged.accepted(),
                      judged.resolvedRefs(),
                      judged.runs(),
                      verdicts,
                      targets.of(judged.model().getSpec()))));
    }
  }

  private static List<JudgedModel> editedFirst(List<JudgedModel> models) {
    List<JudgedModel> edited = new ArrayList<>();
    List<JudgedModel> told = new ArrayList<>();
    for (JudgedModel judged : models) {
      (StatusApplier.isOfThisGeneration(judged.model()) ? told : edited).add(judged);
    }
    edited.addAll(told);
    return edited;
  }

  private void losers(List<EndpointPicker> losers, EndpointPicker winner, Attempts writes) {
    for (EndpointPicker loser : losers) {
      writes.attemptOrPutOff(() -> PickerTelling.loser(statuses, loser, winner));
    }
  }

  /** Of what names the pool, is being deleted, and stays since a finalizer keeps it. */
  void keptObjects(Observation seen, Attempts writes, NextLook next) {
    kept.tell(seen, writes, next);
  }

  /**
   * A finalizer of somebody else's may keep a pool for long. What it has serves all the while, but
   * nothing that is made or mended for it would last, and what is edited meanwhile has no effect.
   */
  NextLook terminating(Observation seen, Serving.Served served) {
    InferencePool pool = seen.pool();
    String name = pool.getMetadata().getName();
    Verdict why =
        Verdict.no(
            Reason.POOL_TERMINATING,
            "InferencePool %s is being deleted, and metadata.finalizers keep it: %s. It serves as it is until it is gone, and nothing is made, repaired or changed for it; see to whoever set them, or take them out where nobody will"
                .formatted(name, String.join(", ", pool.getMetadata().getFinalizers())));
    Map<ConditionType, Verdict> verdicts = new LinkedHashMap<>();
    verdicts.put(ConditionType.PROGRAMMED, why);
    verdicts.put(ConditionType.READY, why);
    Verdict unchanged =
        Verdict.pending(
            "The config stays as it is while InferencePool %s is being deleted".formatted(name));
    Map<ConditionType, Verdict> ofModels = ModelStatus.of(unchanged, why, why);
    ofModels.put(ConditionType.PROGRAMMED, unchanged);
    EndpointPicker picker = served.picker();
    Attempts writes = new Attempts();
    NextLook next = new NextLook();
    left(pool, picker, verdicts, writes);
    for (InferenceModel model : seen.models()) {
      writes.attemptOrPutOff(() -> statuses.write(model, ofModels));
    }
    upstream(seen)
        .map(object -> new JudgedObject(object, unchanged, why))
        .forEach(
            judged ->
                writes.attemptOrPutOff(() -> statuses.write(judged.object(), judged.verdicts())));
    if (picker != null) {
      losers(served.losers(), picker, writes);
    }
    kept.tellPickers(seen, writes, next);
    writes.rethrow();
    next.within(writes.putOff());
    return next;
  }

  /**
   * Of a pool at which the operator failed, in a way that nobody thought of.
   *
   * @param told whether it failed after it had begun to tell: then it may do so at each try, and
   *     only models that were edited since anybody told of them are told that it failed
   */
  void failed(Throwable failure, Observation seen, @Nullable EndpointPicker picker, boolean told) {
    InferencePool pool = seen.pool();
    Verdict why =
        Verdict.no(
            Reason.OPERATOR_ERROR,
            "The operator fails at InferencePool %s, its EndpointPicker or its models (%s), and changes nothing of it; see its log, and undo the last edit of these"
                .formatted(pool.getMetadata().getName(), failure.getClass().getSimpleName()));
    Map<ConditionType, Verdict> verdicts = new LinkedHashMap<>();
    verdicts.put(ConditionType.PROGRAMMED, why);
    verdicts.put(ConditionType.READY, why);
    Attempts writes = new Attempts();
    left(pool, picker, verdicts, writes);
    Verdict notJudged =
        Verdict.pending(
            "Nothing of InferencePool %s is judged; condition Ready says why"
                .formatted(pool.getMetadata().getName()));
    Map<ConditionType, Verdict> ofModels =
        ModelStatus.unseen(Map.of(ConditionType.ACCEPTED, notJudged, ConditionType.READY, why));
    seen.models().stream()
        .filter(model -> !model.isMarkedForDeletion())
        .filter(model -> !told || !StatusApplier.isOfThisGeneration(model))
        .forEach(model -> writes.attemptOrPutOff(() -> statuses.write(model, ofModels)));
  }

  /** Of a pool that is not judged anew: what was said of what it says and refers to stays. */
  private void left(
      InferencePool pool,
      @Nullable EndpointPicker picker,
      Map<ConditionType, Verdict> verdicts,
      Attempts writes) {
    writes.attempt(
        () -> {
          Map<ConditionType, Verdict> all = new LinkedHashMap<>(entries.judged(pool));
          all.putAll(verdicts);
          entries.write(pool, parent(pool, picker), all);
        });
    if (picker != null) {
      writes.attemptOrPutOff(() -> PickerTelling.left(statuses, picker, verdicts));
    }
  }

  /**
   * Of a pool that can't be served since it can't be looked at.
   *
   * @param verdicts why
   */
  void unseen(
      Observation seen, @Nullable EndpointPicker picker, Map<ConditionType, Verdict> verdicts) {
    InferencePool pool = seen.pool();
    Map<ConditionType, Verdict> ofModels = ModelStatus.unseen(verdicts);
    Attempts writes = new Attempts();
    writes.attempt(() -> entries.write(pool, parentAsTold(pool, picker), verdicts));
    if (picker != null) {
      writes.attemptOrPutOff(() -> PickerTelling.left(statuses, picker, verdicts));
    }
    for (InferenceModel model : seen.models()) {
      writes.attemptOrPutOff(() -> statuses.write(model, ofModels));
    }
    writes.rethrow();
  }

  /** Of a pool of which it is not known whether its EndpointPicker was meant to go. */
  void doubtful(InferencePool pool, Verdict why) {
    entries.write(pool, parentAsTold(pool, null), Denied.verdicts(why));
  }

  /**
   * Of a pool that another of its name keeps from being served.
   *
   * @return when to say it, since somebody says otherwise again and again; empty when it is said
   */
  Optional<Duration> superseded(InferencePool pool, Verdict why) {
    return entries.write(
        pool, parent(pool, null), Map.of(ConditionType.ACCEPTED, why, ConditionType.READY, why));
  }

  /**
   * Of a pool that is left to others for a while. Nothing is said in its own status, which is
   * theirs if they take it.
   */
  void undecided(InferencePool pool, CompiledPool compiled, NextLook next) {
    Verdict left =
        Verdict.pending(
            "InferencePool %s of namespace %s is left for a while (--adopt-grace-seconds) to whoever else may serve it; wait, or create an EndpointPicker that names it to have it served at once"
                .formatted(pool.getMetadata().getName(), pool.getMetadata().getNamespace()));
    Attempts writes = new Attempts();
    for (JudgedModel judged : compiled.models()) {
      Map<ConditionType, Verdict> verdicts =
          judged.isWrong()
              ? ModelStatus.of(judged.accepted(), judged.resolvedRefs(), left)
              : ModelStatus.undecided(left);
      writes.attemptOrPutOff(() -> statuses.writeUnlessOthers(judged.model(), verdicts));
    }
    for (JudgedObject judged : compiled.upstream()) {
      if (StatusApplier.told(judged.object())) {
        JudgedObject now =
            judged.accepted().isFalse() ? judged : new JudgedObject(judged.object(), left, left);
        writes.attemptOrPutOff(() -> statuses.writeUnlessOthers(now.object(), now.verdicts()));
      }
    }
    writes.rethrow();
    next.within(writes.putOff());
  }

  /** Of a pool that is not ours to serve. */
  void notOurs(Observation seen, Attempts writes, NextLook next) {
    InferencePool pool = seen.pool();
    String name = pool.getMetadata().getName();
    writes.attempt(() -> entries.remove(pool));
    Verdict unmanaged =
        Verdict.no(
            Reason.POOL_NOT_MANAGED,
            "InferencePool %s is not served by Fairlead; create an EndpointPicker that names it"
                .formatted(name));
    Verdict accepted = Verdict.pending("InferencePool %s is not served".formatted(name));
    for (InferenceModel model : seen.models()) {
      writes.attemptOrPutOff(
          () -> statuses.writeUnlessOthers(model, ModelStatus.of(accepted, unmanaged, unmanaged)));
    }
    upstream(seen)
        .filter(StatusApplier::told)
        .forEach(
            object ->
                writes.attemptOrPutOff(
                    () ->
                        statuses.writeUnlessOthers(
                            object, UpstreamJudge.unmanaged(object, name).verdicts())));
    kept.tellPickers(seen, writes, next);
  }

  /** Takes back what is said of a pool in its own status. */
  void withdraw(InferencePool pool) {
    entries.remove(pool);
  }

  /** What was written is seen to be there, and need not be written again. */
  void shown(Observation seen) {
    entries.shown(seen.pool());
    Stream.of(seen.models(), seen.pickers(), seen.leaving())
        .<HasMetadata>flatMap(List::stream)
        .forEach(statuses::shown);
    upstream(seen).forEach(statuses::shown);
  }

  /** The name under which our entry of the pool is; empty where there is none. */
  Optional<String> parent(InferencePool pool) {
    return entries.parent(pool);
  }

  /** Whether the pool has an entry of ours. */
  boolean isTold(InferencePool pool) {
    return entries.isThere(pool);
  }

  /**
   * The pool is gone.
   *
   * @param pool its UID
   */
  void forget(String pool) {
    entries.forget(pool);
    kept.forget(pool);
    saturation.forget(pool);
  }

  private static Stream<GenericKubernetesResource> upstream(Observation seen) {
    return Stream.concat(seen.upstream().all(), seen.superseded().stream());
  }

  /** The same of a pool whose picker may not be known: as it is then. */
  private String parentAsTold(InferencePool pool, @Nullable EndpointPicker picker) {
    return picker == null
        ? entries.parent(pool).orElseGet(() -> parent(pool, null))
        : parent(pool, picker);
  }

  /**
   * Under which name the entry of a pool is ours: its picker's, unless a gateway of that name has
   * an entry, too. There are gateways that know entries by the name alone, and remove ours.
   */
  private static String parent(InferencePool pool, @Nullable EndpointPicker picker) {
    return picker == null || isGateway(pool, picker.getMetadata().getName())
        ? Names.child(pool.getMetadata().getName())
        : picker.getMetadata().getName();
  }

  private static boolean isGateway(InferencePool pool, String name) {
    return pool.getStatus() != null
        && pool.getStatus().parents().stream()
            .filter(entry -> !entry.isOurs())
            .map(ParentStatus::parentRef)
            .flatMap(Stream::ofNullable)
            .filter(
                ref ->
                    ref.namespace() == null
                        || ref.namespace().equals(pool.getMetadata().getNamespace()))
            .anyMatch(ref -> name.equals(ref.name()));
  }
}
