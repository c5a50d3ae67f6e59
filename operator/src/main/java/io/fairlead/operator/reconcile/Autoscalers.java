package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscalerCondition;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Whether a picker's HorizontalPodAutoscaler has anything to scale by. In a cluster without metrics
 * it is made, and does nothing, which its own conditions alone say.
 */
final class Autoscalers {
  /** How long it may have nothing: pods that begin have no metrics yet. */
  static final Duration PASSING = Duration.ofMinutes(2);

  private static final String SCALED_TWICE = "AmbiguousSelector";

  /** Of one that somebody scaled to 0, which is how an autoscaler is put to rest. */
  private static final String RESTS = "ScalingDisabled";

  /** It has no measurement, or can make nothing of it. */
  private static final Pattern MEASURES =
      Pattern.compile("FailedGet[A-Za-z]*Metric|FailedComputeMetricsReplicas");

  private Autoscalers() {}

  /**
   * What a look came to.
   *
   * @param wrong null when nothing is, as far as is known
   * @param again when to look again; null for not
   */
  record Judged(@Nullable Verdict wrong, @Nullable Duration again) {
    static final Judged WELL = new Judged(null, null);
  }

  /**
   * Judges one that is there, at a time.
   *
   * @param arePodsReady whether a pod is ready of those that it scales: the others have no usage
   *     that counts
   */
  static Judged judge(HorizontalPodAutoscaler autoscaler, boolean arePodsReady, Instant now) {
    Optional<HorizontalPodAutoscalerCondition> inactive = inactive(autoscaler);
    if (inactive.isEmpty()) {
      return Judged.WELL;
    }
    Instant since = Instant.parse(inactive.get().getLastTransitionTime());
    Duration left = PASSING.minus(Duration.between(since, now));
    if (left.isPositive()) {
      return new Judged(null, left.compareTo(PASSING) < 0 ? left : PASSING);
    }
    String reason = String.valueOf(inactive.get().getReason());
    // What it says itself names one pod after the other.
    return new Judged(
        Verdict.no(
            Reason.AUTOSCALER_INACTIVE,
            "HorizontalPodAutoscaler %1$s/%2$s does not scale (%3$s), so pods stay as many as they are: %4$s; kubectl describe hpa %2$s --namespace %1$s says more"
                .formatted(
                    autoscaler.getMetadata().getNamespace(),
                    autoscaler.getMetadata().getName(),
                    reason,
                    nextStep(reason, arePodsReady))),
        null);
  }

  private static String nextStep(String reason, boolean arePodsReady) {
    if (reason.equals(SCALED_TWICE)) {
      return "another HorizontalPodAutoscaler scales the same pods, delete it";
    }
    if (!MEASURES.matcher(reason).matches()) {
      return "see to what it says";
    }
    return arePodsReady
        ? "see to what it is to scale by, CPU takes metrics-server, and spec.autoscaling.podMetrics of the EndpointPicker an adapter"
        : "none of its pods is ready, and others are not measured; condition Ready says what to do";
  }

  private static Optional<HorizontalPodAutoscalerCondition> inactive(
      HorizontalPodAutoscaler autoscaler) {
    return autoscaler.getStatus() == null
        ? Optional.empty()
        : autoscaler.getStatus().getConditions().stream()
            .filter(condition -> "ScalingActive".equals(condition.getType()))
            .filter(condition -> "False".equals(condition.getStatus()))
            .filter(condition -> !RESTS.equals(condition.getReason()))
            .filter(condition -> condition.getLastTransitionTime() != null)
            .findFirst();
  }
}
