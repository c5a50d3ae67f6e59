package io.fairlead.core.plugins.pick;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.plugins.Settings;
import io.fairlead.core.plugins.TestCandidates;
import io.fairlead.core.plugins.TestRequest;
import io.fairlead.plugin.Picker;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PickersTest {

  private static final int DRAWS = 40_000;

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void tiesAreFairWhereverTheyStand(long seed) {
    double[] scores = {2, 3, 1, 3, 3, 0, 3};
    int[] counts = counts(new MaxScorePicker(1), scores, seed);
    assertThat(counts[0] + counts[2] + counts[5]).isZero();
    assertThat(chiSquare(new int[] {counts[1], counts[3], counts[4], counts[6]})).isLessThan(21.1);
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void randomIgnoresScores(long seed) {
    assertThat(chiSquare(counts(new RandomPicker(1), new double[] {9, 0, 0, 1}, seed)))
        .isLessThan(21.1);
  }

  /** Requests often get consecutive seeds in tests and traces: that must be fair as well. */
  @ParameterizedTest(name = "from {0}")
  @ValueSource(longs = {0, -20_000, 1L << 40})
  void consecutiveSeedsAreAsFair(long from) {
    int[] counts = new int[4];
    for (int i = 0; i < DRAWS; i++) {
      counts[pick(new MaxScorePicker(1), new double[] {1, 1, 1, 1}, from + i)[0]]++;
    }
    assertThat(chiSquare(counts)).isLessThan(21.1);
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void severalAreTheBestInOrderWithoutRepeats(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 2000; round++) {
      double[] scores =
          random.doubles(1 + random.nextInt(12)).map(d -> Math.floor(d * 4)).toArray();
      int most = 1 + random.nextInt(5);
      int[] picked = pick(new MaxScorePicker(most), scores, random.nextLong());
      assertThat(picked).hasSize(Math.min(most, scores.length)).doesNotHaveDuplicates();
      double[] best = IntStream.of(picked).mapToDouble(i -> scores[i]).toArray();
      double[] expected =
          Arrays.stream(scores).map(d -> -d).sorted().map(d -> -d).limit(picked.length).toArray();
      assertThat(best).isEqualTo(expected);
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void weightedDrawsInProportionToTheScores(long seed) {
    Picker picker = new WeightedRandomPicker(1);
    int[] counts = counts(picker, new double[] {1, 0, 2, 4, 1}, seed);
    assertThat(counts[1]).isZero();
    // In eighths: 1, 2, 4 and 1.
    int[] equal = {counts[0] * 2, counts[2], counts[3] / 2, counts[4] * 2};
    for (int count : equal) {
      assertThat(count).isBetween(DRAWS / 4 * 93 / 100, DRAWS / 4 * 107 / 100);
    }
    assertThat(chiSquare(counts(picker, new double[] {0, 0, 0, 0}, seed))).isLessThan(21.1);
  }

  /** The second place has the law of upstream's keys: a draw among what the first has left. */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void weightedDrawsTheNextPlacesFromTheRest(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    double[] scores = {1, 2, 5, 0};
    int[] second = new int[4];
    for (int i = 0; i < DRAWS; i++) {
      int[] picked = pick(new WeightedRandomPicker(4), scores, random.nextLong());
      assertThat(picked).containsExactlyInAnyOrder(0, 1, 2, 3).endsWith(3);
      second[picked[1]]++;
    }
    // P(second = 2) = 1/8 * 5/7 + 2/8 * 5/6.
    double expected = DRAWS * (5 / 56.0 + 10 / 48.0);
    assertThat((double) second[2]).isBetween(expected * 0.96, expected * 1.04);
    assertThat(second[3]).isZero();
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void everyPickerPicksEachCandidateAtMostOnce(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (String type : List.of("max-score-picker", "random-picker", "weighted-random-picker")) {
      for (int round = 0; round < 2_000; round++) {
        int most = 1 + random.nextInt(6);
        double[] scores =
            random.doubles(1 + random.nextInt(9)).map(d -> d < 0.3 ? 0 : d * 1e6).toArray();
        Picker picker = Settings.make(Picker.class, type, Map.of("maxNumOfEndpoints", (long) most));
        int[] picked = pick(picker, scores, random.nextLong());
        assertThat(picked).as(type).hasSize(Math.min(most, scores.length)).doesNotHaveDuplicates();
        assertThat(IntStream.of(picked)).allMatch(i -> i >= 0 && i < scores.length);
      }
    }
  }

  private static int[] counts(Picker picker, double[] scores, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int[] counts = new int[scores.length];
    for (int i = 0; i < DRAWS; i++) {
      counts[pick(picker, scores, random.nextLong())[0]]++;
    }
    return counts;
  }

  private static int[] pick(Picker picker, double[] scores, long seed) {
    int[] picked = new int[scores.length];
    TestCandidates candidates = TestCandidates.queues(new int[scores.length]);
    int count = picker.pick(new TestRequest(seed, 0), candidates, scores, picked);
    return Arrays.copyOf(picked, count);
  }

  /** Against equal shares; 3 degrees of freedom exceed 21.1 once in ten thousand. */
  private static double chiSquare(int[] counts) {
    double expected = DRAWS / (double) counts.length;
    return IntStream.of(counts).mapToDouble(c -> (c - expected) * (c - expected) / expected).sum();
  }
}
