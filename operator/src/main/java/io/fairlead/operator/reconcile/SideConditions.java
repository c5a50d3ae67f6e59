package io.fairlead.operator.reconcile;

import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.operator.children.Names;
import io.fairlead.operator.children.PickerMonitor;
import io.fairlead.operator.observe.ClusterView;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.status.ConditionType;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Conditions that are only there while something is not as it should be, and the pool is served all
 * the same.
 */
final class SideConditions {
  private final int maxRollouts;

  /**
   * @param maxRollouts how many pickers are replaced at a time
   */
  SideConditions(int maxRollouts) {
    this.maxRollouts = maxRollouts;
  }

  /**
   * Those of one pool.
   *
   * @param waits whether new pods wait for their turn
   * @param stuck what is not wanted any more, and can't be deleted
   * @param autoscaler why the autoscaler does not scale; null where it does, or none is wanted
   */
  Map<ConditionType, Verdict> of(
      Wanted wanted,
      boolean waits,
      ChildFailures failures,
      ChildFailures stuck,
      @Nullable Verdict autoscaler,
      ClusterView informers) {
    Observation seen = wanted.seen();
    Map<ConditionType, Verdict> conditions = new LinkedHashMap<>();
    if (waits) {
      conditions.put(ConditionType.UP_TO_DATE, turnIsAwaited(seen));
    }
    unmonitored(seen, wanted.picker(), informers)
        .or(failures.and(stuck)::ofMonitor)
        .ifPresent(why -> conditions.put(ConditionType.MONITORED, why));
    List<Verdict> unguarded =
        Stream.of(
                failures.and(stuck).ofGuards().stream(),
                stuck.hindering().verdicts().stream(),
                Stream.ofNullable(autoscaler))
            .flatMap(Function.identity())
            .toList();
    if (!unguarded.isEmpty()) {
      conditions.put(ConditionType.AVAILABILITY_GUARDED, Verdict.all(unguarded));
    }
    if (!seen.unread().problems().isEmpty()) {
      List<Verdict> problems = new ArrayList<>(seen.unread().problems());
      Set<String> unseen = wanted.compiled().unseen();
      if (!unseen.isEmpty()) {
        problems.add(UnseenModels.mayBeRewritten(unseen));
      }
      conditions.put(ConditionType.UPSTREAM_KINDS_READ, Verdict.all(problems));
    }
    return conditions;
  }

  private Verdict turnIsAwaited(Observation seen) {
    return Verdict.no(
        Reason.WAITING_FOR_TURN,
        "The pods of Deployment %s serve as they are until it is their turn to be replaced: the operator replaces those of %s at a time, see --max-rollouts"
            .formatted(
                Names.child(seen.pool().getMetadata().getName()),
                maxRollouts == 1 ? "one pool" : maxRollouts + " pools"));
  }

  /** Why the PodMonitor that the picker asks for is not even tried. */
  private static Optional<Verdict> unmonitored(
      Observation seen, @Nullable EndpointPicker picker, ClusterView informers) {
    var monitoring =
        picker == null || picker.getSpec() == null ? null : picker.getSpec().monitoring();
    String namespace = seen.pool().getMetadata().getNamespace();
    if (picker == null
        || monitoring == null
        || monitoring.podMonitor() == null
        || informers.monitorable(namespace)) {
      return Optional.empty();
    }
    Verdict problem = informers.monitorProblem(namespace);
    if (problem != null) {
      return Optional.of(problem);
    }
    // What was said before this process began may still be so.
    return informers.monitorsUnknown(namespace)
        ? PickerTelling.saidLast(picker, ConditionType.MONITORED)
        : Optional.of(
            Verdict.no(
                Reason.NO_POD_MONITORS,
                "The cluster has no PodMonitor of %s/%s, or the operator may not read it; install the Prometheus operator, or take spec.monitoring.podMonitor out of EndpointPicker %s"
                    .formatted(
                        PickerMonitor.GROUP,
                        PickerMonitor.VERSION,
                        picker.getMetadata().getName())));
  }
}
