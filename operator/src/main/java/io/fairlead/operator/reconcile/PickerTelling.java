package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fairlead.crds.fairlead.v1alpha1.EndpointCounts;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPickerStatus;
import io.fairlead.crds.fairlead.v1alpha1.ModelCounts;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.operator.apply.StatusApplier;
import io.fairlead.operator.children.Labels;
import io.fairlead.operator.status.ConditionList;
import io.fairlead.operator.status.ConditionType;
import io.fairlead.operator.status.PickerFacts;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Replica;
import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Writes the status of EndpointPickers. */
final class PickerTelling {
  /** Nothing but an edit of the picker, its pool or another picker ends these. */
  private static final Set<Reason> NEEDS_A_PERSON =
      EnumSet.of(
          Reason.INVALID_SPEC,
          Reason.PICKER_CONFLICT,
          Reason.ENDPOINT_PICKER_REF_MISSING,
          Reason.INVALID_EXTENSION_REF);

  private PickerTelling() {}

  /** Whether the objects of its pool are to stay as they are. */
  static boolean isPaused(@Nullable EndpointPicker picker) {
    return picker != null
        && picker.getSpec() != null
        && Boolean.TRUE.equals(picker.getSpec().paused());
  }

  /** What keeps a config from pickers that is another one than they have, while it is paused. */
  static Verdict waitsForEndOfPause(EndpointPicker picker) {
    return Verdict.pending(
        "EndpointPicker %s is paused, and what is wanted is not what runs; set spec.paused to false to have it so"
            .formatted(picker.getMetadata().getName()));
  }

  /** Of a Deployment that is gone while the picker is paused. */
  static Verdict madeAfterPause(EndpointPicker picker, String deployment) {
    return Verdict.pending(
        "Deployment %s is not there, and EndpointPicker %s is paused; set spec.paused to false to have it made"
            .formatted(deployment, picker.getMetadata().getName()));
  }

  /** What a condition that is only there while something is wrong said last. */
  static Optional<Verdict> saidLast(EndpointPicker picker, ConditionType type) {
    return picker.getStatus() == null
        ? Optional.empty()
        : picker.getStatus().conditions().stream()
            .filter(condition -> type.wireName().equals(condition.getType()))
            .findFirst()
            .flatMap(
                condition ->
                    Reason.find(condition.getReason())
                        .map(reason -> Verdict.no(reason, condition.getMessage())));
  }

  /** The picker that serves the pool says what the pool's entry says, and counts. */
  static Optional<Duration> winner(
      StatusApplier statuses,
      EndpointPicker picker,
      PickerFacts facts,
      Map<ConditionType, Verdict> verdicts) {
    Deployment deployment = facts.deployment();
    // As the verdicts have them: the Deployment's controller may count them seconds later.
    int pods = facts.staying().size();
    int ready = facts.readyReplicas().size();
    Map<ConditionType, Verdict> all = new LinkedHashMap<>(verdicts);
    all.put(ConditionType.AVAILABLE, available(ready, facts, verdicts.get(ConditionType.READY)));
    if (isPaused(picker)) {
      all.put(
          ConditionType.PAUSED,
          Verdict.yes(
              Reason.PAUSED_BY_SPEC,
              "No object of the picker is made, changed or deleted; set spec.paused to false to have what is wanted made so"));
    }
    EndpointCounts endpoints =
        facts.replicas().stream()
            .filter(Replica::ready)
            .map(Replica::report)
            .filter(Objects::nonNull)
            .map(PickerReport::endpoints)
            .map(counts -> new EndpointCounts(counts.matching(), counts.ready()))
            .findFirst()
            .orElse(null);
    stall(all);
    return statuses.write(
        picker,
        all,
        conditions ->
            new EndpointPickerStatus(
                picker.getMetadata().getGeneration(),
                pods,
                ready,
                Labels.text(Labels.selector(facts.picker())),
                facts.running() == null ? null : facts.running().hex(),
                new ModelCounts(facts.models().accepted(), facts.models().rejected().size()),
                endpoints,
                image(deployment),
                conditions));
  }

  /** Says by the name that kstatus looks for whether only a person can end it. */
  private static void stall(Map<ConditionType, Verdict> verdicts) {
    Verdict ready = verdicts.get(ConditionType.READY);
    if (ready != null && ready.isFalse() && NEEDS_A_PERSON.contains(ready.reason())) {
      verdicts.put(ConditionType.STALLED, Verdict.yes(ready.reason(), ready.message()));
    } else {
      verdicts.remove(ConditionType.STALLED);
    }
  }

  /** While first pods come up, there is nothing that somebody has to do. */
  private static Verdict available(int pods, PickerFacts facts, @Nullable Verdict ready) {
    if (pods > 0) {
      return Verdict.yes(
          Reason.AVAILABLE, "Deployment %s has ready pods".formatted(facts.picker()));
    }
    return ready != null && ready.isFalse() && ready.reason().kind() == Reason.Kind.PASSING
        ? ready
        : Verdict.no(
            Reason.NO_READY_REPLICAS,
            "Deployment %s has no ready pod; condition Ready says why".formatted(facts.picker()));
  }

  /** A picker that lost the pool to an older one. */
  static Optional<Duration> loser(
      StatusApplier statuses, EndpointPicker picker, EndpointPicker winner) {
    return conditionsOnly(
        statuses,
        picker,
        Verdict.no(
            Reason.PICKER_CONFLICT,
            "EndpointPicker %s claimed the pool first; delete one of the two"
                .formatted(winner.getMetadata().getName())));
  }

  /**
   * Nothing is done for its pool: what was counted and judged last stays, and so does the
   * generation that it is of.
   */
  static Optional<Duration> left(
      StatusApplier statuses, EndpointPicker picker, Map<ConditionType, Verdict> verdicts) {
    EndpointPickerStatus last = picker.getStatus();
    Map<ConditionType, Verdict> all =
        new LinkedHashMap<>(last == null ? Map.of() : ConditionList.judged(last.conditions()));
    all.putAll(verdicts);
    stall(all);
    return statuses.write(
        picker,
        all,
        conditions ->
            new EndpointPickerStatus(
                last == null ? null : last.observedGeneration(),
                last == null ? null : last.replicas(),
                last == null ? null : last.readyReplicas(),
                last == null ? null : last.selector(),
                last == null ? null : last.configHash(),
                last == null ? null : last.models(),
                last == null ? null : last.endpoints(),
                last == null ? null : last.image(),
                conditions));
  }

  /** A picker without a pool. */
  static Optional<Duration> conditionsOnly(
      StatusApplier statuses, EndpointPicker picker, Verdict accepted) {
    Map<ConditionType, Verdict> verdicts = new LinkedHashMap<>();
    verdicts.put(ConditionType.ACCEPTED, accepted);
    verdicts.put(ConditionType.READY, accepted);
    stall(verdicts);
    return statuses.write(
        picker,
        verdicts,
        conditions ->
            new EndpointPickerStatus(
                picker.getMetadata().getGeneration(),
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                conditions));
  }

  private static @Nullable String image(@Nullable Deployment deployment) {
    return deployment == null
        ? null
        : deployment.getSpec().getTemplate().getSpec().getContainers().getFirst().getImage();
  }
}
