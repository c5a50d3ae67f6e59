package io.fairlead.operator.status;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Computes the conditions of an InferenceModel. */
public final class ModelStatus {
  private static final Set<String> NEEDS_A_PERSON =
      Set.of("ModelNameInUse", "InvalidSpec", "InvalidPoolRef");

  private static final Verdict RUNS =
      Verdict.yes(PoolStatus.PROGRAMMED, "Every ready picker of the pool runs the model");
  private static final Verdict NOT_ASKED = Verdict.pending("Nobody has looked for endpoints");

  private ModelStatus() {}

  /**
   * Of a model that no picker of ours serves: verdicts by condition type.
   *
   * @param resolvedRefs whether its pool is there and ours
   * @param pool what its pool lacks
   */
  public static Map<String, Verdict> of(Verdict accepted, Verdict resolvedRefs, Verdict pool) {
    return of(accepted, resolvedRefs, false, Map.of(PoolStatus.PROGRAMMED, pool));
  }

  /**
   * Verdicts by condition type.
   *
   * @param accepted whether the model is in its pool's config
   * @param resolvedRefs whether its pool is there and ours
   * @param runs whether every ready picker runs the model as it is written
   * @param pool the pool's own; used for accepted models only
   */
  public static Map<String, Verdict> of(
      Verdict accepted, Verdict resolvedRefs, boolean runs, Map<String, Verdict> pool) {
    Verdict programmed =
        accepted.isTrue() && resolvedRefs.isTrue()
            ? runs ? RUNS : ofModel(pool.getOrDefault(PoolStatus.PROGRAMMED, accepted))
            : Verdict.pending("The model is in no config until Accepted and ResolvedRefs are True");
    Verdict ready =
        ready(
            accepted,
            resolvedRefs,
            programmed,
            pool.getOrDefault(PoolStatus.ENDPOINTS_AVAILABLE, NOT_ASKED));
    Map<String, Verdict> verdicts = new LinkedHashMap<>();
    verdicts.put(PoolStatus.ACCEPTED, accepted);
    verdicts.put(PoolStatus.RESOLVED_REFS, resolvedRefs);
    verdicts.put(PoolStatus.PROGRAMMED, programmed);
    verdicts.put(PoolStatus.READY, ready);
    if (NEEDS_A_PERSON.contains(ready.reason())) {
      verdicts.put("Stalled", Verdict.yes(ready.reason(), ready.message()));
    } else if (!ready.isTrue()) {
      verdicts.put("Reconciling", Verdict.yes("Progressing", ready.message()));
    }
    return verdicts;
  }

  /** The pool may lack a permission; to a model that is a picker that does not run its config. */
  private static Verdict ofModel(Verdict pool) {
    return pool.isFalse() && !pool.reason().equals("ConfigRejected")
        ? Verdict.no("EPPUnavailable", pool.message())
        : pool;
  }

  private static Verdict ready(
      Verdict accepted, Verdict resolvedRefs, Verdict programmed, Verdict endpoints) {
    List<Verdict> wrong =
        Stream.of(accepted, resolvedRefs, programmed, endpoints).filter(Verdict::isFalse).toList();
    if (!wrong.isEmpty()) {
      return Verdict.all(wrong);
    }
    return programmed.isTrue()
        ? Verdict.yes(PoolStatus.READY, "Requests for the model are served")
        : programmed;
  }
}
