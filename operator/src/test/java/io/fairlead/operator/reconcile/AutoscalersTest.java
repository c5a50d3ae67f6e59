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

@Makes(Reason.AUTOSCALER_INACTIVE)
class AutoscalersTest {
  private static final Instant BEGAN = Instant.parse("2026-01-01T00:00:00Z");
  private static final Duration LONG = Autoscalers.PASSING;

  @Test
  void oneThatHasNothingToScaleByIsToldAfterAWhile() {
    HorizontalPodAutoscaler failing = autoscaler("False", "FailedGetResourceMetric");
    Autoscalers.Judged soon = Autoscalers.judge(failing, BEGAN.plus(LONG).minusSeconds(1));
    assertThat(soon.wrong()).as("pods that begin have no metrics yet").isNull();
    assertThat(soon.again()).isEqualTo(Duration.ofSeconds(1));

    Verdict told = Autoscalers.judge(failing, BEGAN.plus(LONG)).wrong();
    assertThat(told).isNotNull();
    SeenReasons.add(told.reason().wireName());
    assertThat(told.message())
        .contains("HorizontalPodAutoscaler ns/p-epp", "FailedGetResourceMetric", "metrics-server");
  }

  @Test
  void oneOfSeveralForTheSamePodsIsToldToBeOne() {
    Verdict told =
        Autoscalers.judge(autoscaler("False", "AmbiguousSelector"), BEGAN.plus(LONG)).wrong();
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
      assertThat(Autoscalers.judge(well, BEGAN.plus(LONG))).isEqualTo(Autoscalers.Judged.WELL);
    }
  }

  /** A clock that is behind that of the cluster must not have it looked at all the while. */
  @Test
  void aClockThatIsBehindWaitsNoLonger() {
    assertThat(
            Autoscalers.judge(autoscaler("False", "FailedGetScale"), BEGAN.minusSeconds(3_600))
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
