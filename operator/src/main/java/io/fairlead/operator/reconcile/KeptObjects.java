package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.apply.Attempts;
import io.fairlead.operator.apply.StatusApplier;
import io.fairlead.operator.desire.CompiledPool.JudgedObject;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.status.ModelStatus;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Tells of objects that name a pool, are being deleted, and stay since a finalizer keeps them: they
 * count no longer, and what was said of them while they did is no longer true.
 *
 * <p>Safe to use from any thread.
 */
final class KeptObjects {
  /** Most are gone in a moment, as what is deleted in the foreground, and nobody need be told. */
  private static final Duration MOMENT = Duration.ofSeconds(1);

  private final StatusApplier statuses;
  private final Waits leaving;

  /**
   * @param nanos a clock that never jumps
   */
  KeptObjects(StatusApplier statuses, LongSupplier nanos) {
    this.statuses = statuses;
    this.leaving = new Waits(nanos);
  }

  /**
   * Tells of those that have been kept for a moment.
   *
   * @param next gets when to tell of the others
   */
  void tell(Observation seen, Attempts writes, NextLook next) {
    tell(
        Stream.concat(
            Stream.concat(seen.leaving().stream(), seen.models().stream()),
            Stream.concat(seen.upstream().all(), seen.superseded().stream())),
        seen,
        writes,
        next);
  }

  /** The same of EndpointPickers alone. */
  void tellPickers(Observation seen, Attempts writes, NextLook next) {
    tell(seen.leaving().stream(), seen, writes, next);
  }

  private void tell(
      Stream<? extends HasMetadata> objects, Observation seen, Attempts writes, NextLook next) {
    String pool = seen.pool().getMetadata().getUid();
    List<? extends HasMetadata> kept = objects.filter(HasMetadata::isMarkedForDeletion).toList();
    Set<String> keys = new HashSet<>();
    for (HasMetadata object : kept) {
      String key = pool + "/" + object.getMetadata().getUid();
      keys.add(key);
      Duration left = MOMENT.minus(leaving.since(key, Reason.TERMINATING));
      if (left.isPositive()) {
        next.within(left);
      } else {
        writes.attemptOrPutOff(() -> tell(object, seen.pool().getMetadata().getName()));
      }
    }
    leaving.endOthers(pool, keys);
  }

  /**
   * The pool is gone.
   *
   * @param pool its UID
   */
  void forget(String pool) {
    leaving.endOthers(pool, Set.of());
  }

  /**
   * What is to be said of an object that is being deleted and that a finalizer keeps.
   *
   * @param meanwhile what becomes of its pool; the rest of a sentence, and empty where it has none
   */
  static Verdict kept(HasMetadata object, String meanwhile) {
    return Verdict.no(
        Reason.TERMINATING,
        "%s %s is being deleted, and metadata.finalizers keep it: %s. It counts no longer%s; see to whoever set them, or take them out where nobody will"
            .formatted(
                object.getKind(),
                object.getMetadata().getName(),
                String.join(", ", object.getMetadata().getFinalizers()),
                meanwhile));
  }

  private Optional<Duration> tell(HasMetadata object, String pool) {
    Verdict kept =
        kept(object, ", and InferencePool %s is served as if it were gone".formatted(pool));
    Verdict named = Verdict.yes(Reason.RESOLVED_REFS, "InferencePool %s is named".formatted(pool));
    return switch (object) {
      case EndpointPicker picker -> PickerTelling.conditionsOnly(statuses, picker, kept);
      case InferenceModel model ->
          statuses.write(model, ModelStatus.of(kept, named, Verdict.pending("")));
      case GenericKubernetesResource upstream ->
          statuses.write(upstream, new JudgedObject(upstream, kept, named).verdicts());
      default -> throw new IllegalArgumentException("nothing is told of a " + object.getKind());
    };
  }
}
