package io.fairlead.operator.desire;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.document.ConfigDocument.Written;
import io.fairlead.crds.fairlead.v1alpha1.ExternalPlace;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.status.ConditionType;
import io.fairlead.operator.status.Verdict;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What the resources of a pool amount to.
 *
 * @param accepted whether the pool and its picker's settings can be run
 * @param config what to run: of what cannot be run, what was in force stays; null when nothing was
 * @param document that config as it is stored, with its hash; null when there is none
 * @param tooLarge why it is not the newest one, whose document no ConfigMap holds; null when it is
 * @param unknown why nobody knows what to run, though pickers run something; null when it is known
 * @param lastGood the document that ran before it; null when none is known to have run
 * @param schedulers of the author's own that the config speaks of
 * @param unseen names of models of the config that no object has that can be read now
 * @param models a judgement of every model that names the pool
 * @param upstream a judgement of every object of upstream's that names the pool
 */
public record CompiledPool(
    Verdict accepted,
    @Nullable PoolConfig config,
    @Nullable Written document,
    @Nullable Verdict tooLarge,
    @Nullable Verdict unknown,
    @Nullable String lastGood,
    List<ExternalPlace> schedulers,
    Set<String> unseen,
    List<JudgedModel> models,
    List<JudgedObject> upstream) {

  public CompiledPool {
    schedulers = List.copyOf(schedulers);
    unseen = Collections.unmodifiableSet(new TreeSet<>(unseen));
    models = List.copyOf(models);
    upstream = List.copyOf(upstream);
  }

  /**
   * One model.
   *
   * @param accepted whether it is in the config; not known while there is none
   * @param resolvedRefs whether its reference leads to this pool
   * @param runs whether every ready picker runs the model as it is written, whatever else has
   *     changed in the config; false when no picker is ready
   */
  public record JudgedModel(
      InferenceModel model, Verdict accepted, Verdict resolvedRefs, boolean runs) {

    /** Whether somebody has to change it. */
    public boolean isWrong() {
      return accepted.isFalse() || resolvedRefs.isFalse();
    }
  }

  /**
   * An InferenceObjective or an InferenceModelRewrite.
   *
   * @param accepted whether it is in the config, wholly or in part
   * @param resolvedRefs whether its reference leads to this pool
   */
  public record JudgedObject(
      GenericKubernetesResource object, Verdict accepted, Verdict resolvedRefs) {

    /** The same by condition. */
    public Map<ConditionType, Verdict> verdicts() {
      Map<ConditionType, Verdict> verdicts = new LinkedHashMap<>();
      verdicts.put(ConditionType.ACCEPTED, accepted);
      verdicts.put(ConditionType.RESOLVED_REFS, resolvedRefs);
      return verdicts;
    }
  }
}
