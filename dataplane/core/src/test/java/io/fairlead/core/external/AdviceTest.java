package io.fairlead.core.external;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AdviceTest {

  @Test
  void findsEveryScoreAndNoOther() {
    for (long seed = 0; seed < 500; seed++) {
      Random random = new Random(seed);
      int count = 1 + random.nextInt(seed % 10 == 0 ? 2_000 : 20);
      Map<Long, Double> given = new HashMap<>();
      long[] endpoints = new long[count];
      double[] scores = new double[count];
      for (int i = 0; i < count; i++) {
        // Few low bits differ: those that want the same place are many.
        endpoints[i] = random.nextInt(3) == 0 ? random.nextInt(50) * 4_096L : random.nextLong();
        scores[i] = random.nextGaussian();
        given.put(endpoints[i], scores[i]);
      }
      Advice advice = new Advice(endpoints, scores);
      given.forEach((endpoint, score) -> assertThat(advice.score(endpoint)).isEqualTo(score));
      for (int i = 0; i < 100; i++) {
        long other = random.nextInt(100) * 4_096L;
        assertThat(advice.score(other)).isEqualTo(given.getOrDefault(other, Double.NaN));
      }
    }
  }

  @Test
  void theSameWordIsEqualInWhateverOrderItIsSaid() {
    long[] endpoints = {4_096, 8_192, 12_288};
    Advice advice = new Advice(endpoints, new double[] {1, 2, 0.0});
    Advice turned = new Advice(new long[] {12_288, 8_192, 4_096}, new double[] {-0.0, 2, 1});
    assertThat(turned).isEqualTo(advice).hasSameHashCodeAs(advice);
    assertThat(advice)
        .isNotEqualTo(new Advice(endpoints, new double[] {1, 2, 3.5}))
        .isNotEqualTo(new Advice(new long[] {4_096, 8_192}, new double[] {1, 2}))
        .isNotEqualTo(new Advice(new long[] {4_096, 8_192, 1}, new double[] {1, 2, 0}))
        .isNotEqualTo(null);
    assertThat(new Advice(new long[1_000], new double[1_000]).bytes()).isGreaterThan(16_000);
  }

  @Test
  void refusesWhatIsNoScore() {
    assertThatThrownBy(() -> new Advice(new long[0], new double[0]))
        .hasMessageContaining("0 endpoints");
    assertThatThrownBy(() -> new Advice(new long[2], new double[1]))
        .hasMessageContaining("2 endpoints with 1 scores");
    for (double wrong : new double[] {Double.NaN, Double.POSITIVE_INFINITY}) {
      assertThatThrownBy(() -> new Advice(new long[1], new double[] {wrong}))
          .hasMessageContaining("finite");
    }
  }
}
