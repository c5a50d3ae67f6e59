package io.fairlead.operator.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscalerBuilder;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.SeenReasons;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Makes(Reason.AUTOSCALER_INACTIVE)
class AutoscalersTest {
  private static final Instant BEGAN = Instant.parse("2026-01-01T00:00:00Z");
  private static final Duration LONG = Autoscalers.PASSING;

  @Test
  void oneThatHasNothingToScaleByIsToldAfterAWhile() {
    HorizontalPodAutoscaler failing = autoscaler("False", "FailedGetResourceMetric");
    Autoscalers.Judged soon = Autoscalers.judge(failing, true, BEGAN.plus(LONG).minusSeconds(1));
    assertThat(soon.wrong()).as("pods that begin have no metrics yet").isNull();
    assertThat(soon.again()).isEqualTo(Duration.ofSeconds(1));

    Verdict told = Autoscalers.judge(failing, true, BEGAN.plus(LONG)).wrong();
    assertThat(told).isNotNull();
    SeenReasons.add(told.reason().wireName());
    assertThat(told.message())
        .contains("HorizontalPodAutoscaler ns/p-epp", "FailedGetResourceMetric", "metrics-server");
  }

  /** Pods that are not ready have no usage that counts, whatever the cluster can measure. */
  @ParameterizedTest
  @ValueSource(
      strings = {"FailedGetResourceMetric", "FailedGetPodsMetric", "FailedComputeMetricsReplicas"})
  void whosePodsAreNotReadyIsSentToThem(String reason) {
    Verdict told = Autoscalers.judge(autoscaler("False", reason), false, BEGAN.plus(LONG)).wrong();
    assertThat(told).isNotNull();
    assertThat(told.message())
        .contains("none of its pods is ready", "condition Ready")
        .doesNotContain("metrics-server");
  }

  @Test
  void whatPodsHaveNoPartInIsSaidOfThemNeither() {
    Verdict told =
        Autoscalers.judge(autoscaler("False", "FailedGetScale"), false, BEGAN.plus(LONG)).wrong();
    assertThat(told).isNotNull();
    assertThat(told.message())
        .contains("kubectl describe hpa p-epp")
        .doesNotContain("ready", "metrics-server");
  }

  @Test
  void oneOfSeveralForTheSamePodsIsToldToBeOne() {
    Verdict told =
        Autoscalers.judge(autoscaler("False", "AmbiguousSelector"), false, BEGAN.plus(LONG))
            .wrong();
    assertThat(told).isNotNull();
    assertThat(told.message()).contains("another HorizontalPodAutoscaler scales the same pods");
  }

  @Test
  void oneThatScalesOrIsMeantToRestIsWell() {
    for (HorizontalPodAutoscaler well :
        new HorizontalPodAutoscaler[] {
          autoscaler("True", "ValidMetricFound"),
          autoscaler("False", "ScalingDisabled"),
          new HorizontalPodAutoscaler()
        }) {
      assertThat(Autoscalers.judge(well, true, BEGAN.plus(LONG)))
          .isEqualTo(Autoscalers.Judged.WELL);
    }
  }

  /** A clock that is behind that of the cluster must not have it looked at all the while. */
  @Test
  void aClockThatIsBehindWaitsNoLonger() {
    assertThat(
            Autoscalers.judge(
                    autoscaler("False", "FailedGetScale"), true, BEGAN.minusSeconds(3_600))
                .again())
        .isEqualTo(LONG);
  }

  private static HorizontalPodAutoscaler autoscaler(String scalingActive, String reason) {
    return new HorizontalPodAutoscalerBuilder()
        .withNewMetadata()
        .withNamespace("ns")
        .withName("p-epp")
        .endMetadata()
        .withNewStatus()
        .addNewCondition()
        .withType("ScalingActive")
        .withStatus(scalingActive)
        .withReason(reason)
        .withLastTransitionTime(BEGAN.toString())
        .endCondition()
        .endStatus()
        .build();
  }
}
