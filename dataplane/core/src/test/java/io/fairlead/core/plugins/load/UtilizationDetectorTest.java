package io.fairlead.core.plugins.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.plugins.TestCandidates;
import io.fairlead.core.plugins.TestRequest;
import org.junit.jupiter.api.Test;

class UtilizationDetectorTest {

  @Test
  void saturationIsTheWorseOfQueueAndKvCache() {
    UtilizationDetector detector = new UtilizationDetector(5, 0.8, 0);
    TestCandidates candidates =
        new TestCandidates()
            .add(0, 0, Double.NaN, 0)
            .add(5, 0, 0.4, 0)
            .add(1, 10, 0.4, 0)
            .add(0, 0, 0.8, 0);
    assertThat(detector.saturation(candidates.get(0))).isEqualTo(0);
    assertThat(detector.saturation(candidates.get(1))).isEqualTo(1);
    assertThat(detector.saturation(candidates.get(2))).isEqualTo(2);
    assertThat(detector.saturation(candidates.get(3))).isEqualTo(1);
  }

  @Test
  void keepsWhatIsBelowAndAllWhenNoneIs() {
    assertThat(kept(new UtilizationDetector(5, 0.8, 0), 4, 5, 9))
        .containsExactly(true, false, false);
    assertThat(kept(new UtilizationDetector(5, 0.8, 0.2), 4, 5, 6))
        .containsExactly(true, true, false);
    assertThat(kept(new UtilizationDetector(5, 0.8, 0), 5, 6, 9)).containsExactly(true, true, true);
  }

  private static boolean[] kept(UtilizationDetector detector, int... queues) {
    boolean[] keep = new boolean[queues.length];
    java.util.Arrays.fill(keep, true);
    detector.filter(new TestRequest(1, 0), TestCandidates.queues(queues), keep);
    return keep;
  }
}
