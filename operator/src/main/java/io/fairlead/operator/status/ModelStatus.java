package io.fairlead.operator.status;

import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Computes the conditions of an InferenceModel. */
public final class ModelStatus {
  private static final Set<Reason> NEEDS_A_PERSON =
      EnumSet.of(Reason.MODEL_NAME_IN_USE, Reason.INVALID_SPEC, Reason.INVALID_POOL_REF);

  /** What a pool says of its config is to a model what it is to the pool. */
  private static final Set<Reason> OF_THE_CONFIG =
      EnumSet.of(Reason.CONFIG_REJECTED, Reason.CONFIG_TOO_LARGE);

  private static final String WHICH = "; condition EndpointsAvailable of the pool says which";

  private static final Verdict RUNS =
      Verdict.yes(Reason.PROGRAMMED, "Every ready picker of the pool runs the model");
  private static final Verdict NOT_ASKED = Verdict.pending("Nobody has looked for endpoints");
  private static final Verdict NOT_RUN =
      Verdict.pending("Told when every ready picker runs the model as it is written");

  private ModelStatus() {}

  /**
   * Of a model that no picker of ours serves: verdicts by condition type.
   *
   * @param resolvedRefs whether its pool is there and ours
   * @param pool what its pool lacks
   */
  public static Map<ConditionType, Verdict> of(
      Verdict accepted, Verdict resolvedRefs, Verdict pool) {
    return of(accepted, resolvedRefs, false, Map.of(ConditionType.PROGRAMMED, pool), NOT_RUN);
  }

  /** Of a model with which nothing is wrong, and whose pool may be somebody else's. */
  public static Map<ConditionType, Verdict> undecided(Verdict why) {
    Map<ConditionType, Verdict> verdicts = of(why, why, why);
    verdicts.put(ConditionType.READY, why);
    verdicts.put(ConditionType.RECONCILING, Verdict.yes(Reason.PROGRESSING, why.message()));
    return verdicts;
  }

  /**
   * Of a model that can't be judged, since not all is seen that its pool goes by.
   *
   * @param pool the pool's conditions, which say why
   */
  public static Map<ConditionType, Verdict> unseen(Map<ConditionType, Verdict> pool) {
    Verdict notJudged = pool.getOrDefault(ConditionType.ACCEPTED, Verdict.pending(""));
    Verdict why = pool.getOrDefault(ConditionType.READY, notJudged);
    Map<ConditionType, Verdict> verdicts = of(notJudged, notJudged, why);
    verdicts.put(ConditionType.PROGRAMMED, notJudged);
    verdicts.put(ConditionType.READY, why);
    return verdicts;
  }

  /**
   * Verdicts by condition type.
   *
   * @param accepted whether the model is in its pool's config
   * @param resolvedRefs whether its pool is there and ours
   * @param runs whether every ready picker runs the model as it is written
   * @param pool the pool's own; used for accepted models only
   * @param targets whether its targets are served; used where pickers run it
   */
  public static Map<ConditionType, Verdict> of(
      Verdict accepted,
      Verdict resolvedRefs,
      boolean runs,
      Map<ConditionType, Verdict> pool,
      Verdict targets) {
    Verdict programmed =
        accepted.isTrue() && resolvedRefs.isTrue()
            ? runs ? RUNS : ofModel(pool.getOrDefault(ConditionType.PROGRAMMED, accepted))
            : Verdict.pending("The model is in no config until Accepted and ResolvedRefs are True");
    Verdict ready =
        ready(
            accepted,
            resolvedRefs,
            programmed,
            ofModels(pool.getOrDefault(ConditionType.ENDPOINTS_AVAILABLE, NOT_ASKED)),
            targets);
    Map<ConditionType, Verdict> verdicts = new LinkedHashMap<>();
    verdicts.put(ConditionType.ACCEPTED, accepted);
    verdicts.put(ConditionType.RESOLVED_REFS, resolvedRefs);
    verdicts.put(ConditionType.PROGRAMMED, programmed);
    verdicts.put(
        ConditionType.SATURATED,
        programmed.isTrue() ? pool.getOrDefault(ConditionType.SATURATED, NOT_ASKED) : NOT_RUN);
    verdicts.put(ConditionType.TARGETS_AVAILABLE, programmed.isTrue() ? targets : NOT_RUN);
    verdicts.put(ConditionType.READY, ready);
    if (NEEDS_A_PERSON.contains(ready.reason())) {
      verdicts.put(ConditionType.STALLED, Verdict.yes(ready.reason(), ready.message()));
    } else if (!ready.isTrue()) {
      verdicts.put(ConditionType.RECONCILING, Verdict.yes(Reason.PROGRESSING, ready.message()));
    }
    return verdicts;
  }

  /** The pool may lack a permission; to a model that is a picker that does not run its config. */
  private static Verdict ofModel(Verdict pool) {
    return pool.isFalse() && !OF_THE_CONFIG.contains(pool.reason())
        ? Verdict.no(Reason.EPP_UNAVAILABLE, pool.message())
        : pool;
  }

  /**
   * Not which endpoints are silent, nor for how long: that may change all the while, and a pool may
   * have thousands of models.
   */
  private static Verdict ofModels(Verdict endpoints) {
    return switch (endpoints.reason()) {
      case NO_ENDPOINT_ANSWERS ->
          endpoints.worded(said -> "No endpoint of the pool answers" + WHICH);
      case PORT_NOT_SERVED ->
          endpoints.worded(said -> "No matching pod serves spec.targetPorts of the pool" + WHICH);
      default -> endpoints;
    };
  }

  /** Whether servers have the targets is no part of it: they load adapters when they like. */
  private static Verdict ready(
      Verdict accepted,
      Verdict resolvedRefs,
      Verdict programmed,
      Verdict endpoints,
      Verdict targets) {
    List<Verdict> wrong =
        Stream.of(accepted, resolvedRefs, programmed, endpoints).filter(Verdict::isFalse).toList();
    if (!wrong.isEmpty()) {
      return Verdict.all(wrong);
    }
    return programmed.isTrue()
        ? Verdict.yes(
            Reason.READY,
            targets.isFalse()
                ? "Pickers take requests for the model, but no endpoint serves all of its targets; condition TargetsAvailable says which are missing"
                : "Requests for the model are served")
        : programmed;
  }
}
