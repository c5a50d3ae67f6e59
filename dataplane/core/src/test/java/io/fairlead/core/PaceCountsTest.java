package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PaceCountsTest {

  private static final long MILLI = 1_000_000;

  private final PaceCounts paces = new PaceCounts();

  @Test
  void thoseThatAreStillInTimeLoseNothing() {
    paces.add(64 * MILLI);
    assertThat(paces.late(10, 60)).isZero();
    assertThat(paces.late(10, 70)).isCloseTo(6, offset(1e-9));
    assertThat(paces.late(65, 70)).isCloseTo(5, offset(1e-9));
  }

  @Test
  void whoIsTooLateByFarLosesNothingMore() {
    paces.add(16 * MILLI);
    assertThat(paces.late(40, 50)).isZero();
    assertThat(paces.late(10, 500)).isCloseTo(16, offset(1e-9));
  }

  /** Paces are rounded down, by less than a fifth. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void isAboutTheSumOverAllThatAsk(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Long> asked = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      if (asked.size() > 50 || (!asked.isEmpty() && random.nextInt(3) == 0)) {
        paces.remove(asked.remove(random.nextInt(asked.size())));
      } else {
        asked.add(MILLI + random.nextLong(300 * MILLI));
        paces.add(asked.getLast());
      }
      double after = 1 + random.nextInt(500);
      double before = after * random.nextDouble();
      assertThat(paces.count()).isEqualTo(asked.size());
      assertThat(paces.late(before, after)).isCloseTo(sum(asked, before, after), offset(1e-6));
    }
  }

  private static double sum(List<Long> asked, double before, double after) {
    double sum = 0;
    for (long nanos : asked) {
      double pace = Math.pow(2, Math.floor(4 * Math.log(nanos / 1e6) / Math.log(2)) / 4);
      sum += Math.min(pace, Math.max(0, after - pace)) - Math.min(pace, Math.max(0, before - pace));
    }
    return sum;
  }
}
