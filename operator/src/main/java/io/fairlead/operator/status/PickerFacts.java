package io.fairlead.operator.status;

import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fairlead.crds.ConfigHash;
import io.fairlead.operator.children.Labels;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a pool's status is computed from.
 *
 * @param where in the cluster
 * @param accepted whether we take the pool as it is written
 * @param resolvedRefs whether the pool's reference leads to our Service
 * @param hash of the config as it should run; null when there is none to run
 * @param deployment as observed; null before it is there
 * @param replicas the picker's pods, the newest first: where one of several is named, it is the one
 *     that stays, and the same each time
 * @param applyFailure why the children could not be brought to their desired state, or why that is
 *     not the newest config; null when they could, and it is
 * @param models accepted and rejected models of the pool
 * @param beside conditions that are only there while something is not as it should be and the pool
 *     is served all the same
 * @param overdue names of pods that have had longer than they need to report the config, or whose
 *     report is older than it may be; others are waited for
 * @param slow names of pods whose picker has run for longer than a start takes, and is not ready
 */
public record PickerFacts(
    Where where,
    Verdict accepted,
    Verdict resolvedRefs,
    @Nullable ConfigHash hash,
    @Nullable Deployment deployment,
    List<Replica> replicas,
    @Nullable Verdict applyFailure,
    ModelCount models,
    Map<ConditionType, Verdict> beside,
    Set<String> overdue,
    Set<String> slow) {

  public PickerFacts {
    replicas = replicas.stream().sorted(Replica.NEWEST_FIRST).toList();
    beside = Collections.unmodifiableMap(new LinkedHashMap<>(beside));
    overdue = Set.copyOf(overdue);
    slow = Set.copyOf(slow);
  }

  /** Nothing is to be told beside. */
  public PickerFacts(
      Where where,
      Verdict accepted,
      Verdict resolvedRefs,
      @Nullable ConfigHash hash,
      @Nullable Deployment deployment,
      List<Replica> replicas,
      @Nullable Verdict applyFailure,
      ModelCount models) {
    this(
        where,
        accepted,
        resolvedRefs,
        hash,
        deployment,
        replicas,
        applyFailure,
        models,
        Map.of(),
        Set.of(),
        Set.of());
  }

  /** The same when all ready pods have had their time. */
  public PickerFacts withReportsOverdue() {
    return withReportsOverdue(
        readyReplicas().stream().map(Replica::name).collect(Collectors.toUnmodifiableSet()));
  }

  /** The same when these have. */
  public PickerFacts withReportsOverdue(Set<String> pods) {
    return new PickerFacts(
        where,
        accepted,
        resolvedRefs,
        hash,
        deployment,
        replicas,
        applyFailure,
        models,
        beside,
        pods,
        slow);
  }

  /**
   * Where to look for what a pool consists of.
   *
   * @param picker name of the children
   * @param modelServers the labels by which the pool selects them, as {@code kubectl -l} takes them
   */
  public record Where(String namespace, String picker, String modelServers) {
    /** What shows all of the picker's pods. */
    String describePods() {
      return "kubectl describe pods -l %s=%s --namespace %s"
          .formatted(Labels.PICKER, picker, namespace);
    }
  }

  /** Name of the children. */
  public String picker() {
    return where.picker();
  }

  /**
   * Models that name the pool.
   *
   * @param accepted those in the config
   * @param waiting those that nothing is wrong with, and that are not in it as they are written
   * @param rejected names of the objects that were left out, sorted
   */
  public record ModelCount(int accepted, int waiting, List<String> rejected) {
    public ModelCount {
      rejected = List.copyOf(rejected);
    }
  }

  /** Which config every ready replica runs; null where they differ, or none has said. */
  public @Nullable ConfigHash running() {
    List<@Nullable ConfigHash> said =
        readyReplicas().stream()
            .map(Replica::report)
            .<@Nullable ConfigHash>map(report -> report == null ? null : report.configHash())
            .distinct()
            .toList();
    return said.size() == 1 ? said.getFirst() : null;
  }

  /** The replicas that are not on their way out. */
  public List<Replica> staying() {
    return replicas.stream().filter(replica -> !replica.pod().isMarkedForDeletion()).toList();
  }

  /** The replicas that traffic reaches, and goes on doing so. */
  public List<Replica> readyReplicas() {
    return replicas.stream().filter(Replica::ready).toList();
  }
}
