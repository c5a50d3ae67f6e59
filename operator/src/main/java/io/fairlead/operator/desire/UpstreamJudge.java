package io.fairlead.operator.desire;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fairlead.crds.compile.Compilation;
import io.fairlead.crds.compile.Finding;
import io.fairlead.crds.compile.ObjectRef;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.watch.UpstreamKind;
import io.fairlead.operator.desire.CompiledPool.JudgedObject;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Puts into the words of conditions what became of upstream's objects in a pool's config. */
public final class UpstreamJudge {
  private UpstreamJudge() {}

  /**
   * Judges all that name the pool.
   *
   * @param noConfig why there is no config that they could be in; null where there is one
   */
  static List<JudgedObject> judge(
      Observation seen, Compilation compilation, @Nullable Verdict noConfig) {
    String pool = seen.pool().getMetadata().getName();
    Verdict resolved =
        Verdict.yes(Reason.RESOLVED_REFS, "InferencePool %s is served by Fairlead".formatted(pool));
    List<JudgedObject> judged = new ArrayList<>();
    seen.upstream()
        .all()
        .filter(object -> !object.isMarkedForDeletion())
        .forEach(
            object ->
                judged.add(
                    new JudgedObject(object, accepted(object, compilation, noConfig), resolved)));
    seen.superseded().stream()
        .filter(object -> !object.isMarkedForDeletion())
        .forEach(object -> judged.add(new JudgedObject(object, superseded(object), resolved)));
    return judged;
  }

  /** Of an object whose pool is there, but not ours. */
  public static JudgedObject unmanaged(GenericKubernetesResource object, String pool) {
    return new JudgedObject(
        object,
        Verdict.pending("InferencePool %s is not served".formatted(pool)),
        Verdict.no(
            Reason.POOL_NOT_MANAGED,
            "InferencePool %s is not served by Fairlead; create an EndpointPicker that names it"
                .formatted(pool)));
  }

  /**
   * Of an object whose pool is gone.
   *
   * @param kindGone what is said where no pool can be there; null where one can
   */
  public static JudgedObject orphan(
      GenericKubernetesResource object, String pool, @Nullable Verdict kindGone) {
    return new JudgedObject(
        object,
        Verdict.pending("The object is judged when its pool is found"),
        kindGone != null
            ? kindGone
            : Verdict.no(
                Reason.POOL_NOT_FOUND,
                "InferencePool %s does not exist in namespace %s; create it or correct spec.poolRef.name"
                    .formatted(pool, object.getMetadata().getNamespace())));
  }

  /** Of an object whose reference is to no InferencePool. */
  public static JudgedObject poolless(GenericKubernetesResource object) {
    return new JudgedObject(
        object,
        Verdict.pending("The object is judged when its pool is found"),
        Verdict.no(
            Reason.INVALID_POOL_REF,
            "spec.poolRef is not to an InferencePool; set its kind to InferencePool, its group to %s, and its name to that of a pool of namespace %s"
                .formatted(InferencePool.GROUP, object.getMetadata().getNamespace())));
  }

  private static Verdict accepted(
      GenericKubernetesResource object, Compilation compilation, @Nullable Verdict noConfig) {
    List<Finding> findings =
        compilation.about(
            new ObjectRef(
                object.getKind(),
                object.getMetadata().getNamespace(),
                object.getMetadata().getName()));
    String messages = findings.stream().map(Finding::message).collect(Collectors.joining("; "));
    if (findings.stream().anyMatch(f -> f.severity() == Finding.Severity.REJECTS)) {
      return Verdict.no(Reason.of(findings.getFirst().reason()), messages);
    }
    if (noConfig != null) {
      return noConfig;
    }
    return Verdict.yes(
        Reason.ACCEPTED,
        "The pool takes it into its config"
            + (messages.isEmpty() ? "" : ", but not all of it: " + messages));
  }

  private static Verdict superseded(GenericKubernetesResource object) {
    String newer = UpstreamKind.GROUPS.getFirst();
    return Verdict.no(
        Reason.SUPERSEDED,
        "The cluster has the kind %s in group %s, too, and only objects of that group count; create this one there"
            .formatted(object.getKind(), newer));
  }
}
