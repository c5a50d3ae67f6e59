package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fairlead.operator.apply.ChildFailure;
import io.fairlead.operator.apply.ChildFailure.Outlook;
import io.fairlead.operator.children.PickerMonitor;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** What could not be brought to its desired state of a pool's children, or not be deleted. */
record ChildFailures(List<ChildFailure> all) {
  static final ChildFailures NONE = new ChildFailures(List.of());

  ChildFailures {
    all = List.copyOf(all);
  }

  ChildFailures and(ChildFailures others) {
    return new ChildFailures(Stream.concat(all.stream(), others.all.stream()).toList());
  }

  boolean isEmpty() {
    return all.isEmpty();
  }

  boolean has(Outlook outlook) {
    return all.stream().anyMatch(failure -> failure.outlook() == outlook);
  }

  boolean has(Reason reason) {
    return all.stream().anyMatch(failure -> failure.why().reason() == reason);
  }

  List<Verdict> verdicts() {
    return all.stream().map(ChildFailure::why).toList();
  }

  /** Those without which requests are not served as they should be. */
  ChildFailures hindering() {
    return new ChildFailures(
        all.stream().filter(failure -> !isMonitor(failure) && !isGuard(failure)).toList());
  }

  /** Whether one of them is of this kind. */
  boolean has(Class<? extends HasMetadata> kind) {
    return all.stream().map(ChildFailure::child).anyMatch(kind::isInstance);
  }

  /** Why the Service is not as it should be. */
  Optional<Verdict> ofService() {
    return all.stream()
        .filter(failure -> failure.child() instanceof Service)
        .map(ChildFailure::why)
        .findFirst();
  }

  /** Why nobody may hear of the pods' metrics. */
  Optional<Verdict> ofMonitor() {
    return all.stream().filter(ChildFailures::isMonitor).map(ChildFailures::notMade).findFirst();
  }

  /** Why pods are as many as they are, and may be drained all at once, or begin with nothing. */
  Optional<Verdict> ofGuards() {
    List<Verdict> unguarded =
        all.stream().filter(ChildFailures::isGuard).map(ChildFailures::notMade).toList();
    return unguarded.isEmpty() ? Optional.empty() : Optional.of(Verdict.all(unguarded));
  }

  private static boolean isMonitor(ChildFailure failure) {
    return failure.child().getKind().equals(PickerMonitor.KIND);
  }

  private static boolean isGuard(ChildFailure failure) {
    return failure.child() instanceof HorizontalPodAutoscaler
        || failure.child() instanceof PodDisruptionBudget
        || failure.child() instanceof Secret;
  }

  /** Of what requests are served without. */
  private static Verdict notMade(ChildFailure failure) {
    Verdict why = failure.why();
    return Verdict.no(
        why.reason() == Reason.EPP_UNAVAILABLE || !why.isFalse()
            ? Reason.OBJECT_NOT_APPLIED
            : why.reason(),
        why.message());
  }
}
