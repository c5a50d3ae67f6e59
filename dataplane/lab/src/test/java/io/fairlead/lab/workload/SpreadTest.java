package io.fairlead.lab.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class SpreadTest {

  private static final int DRAWS = 400_000;

  static Stream<Arguments> spreads() {
    return Stream.of(
        arguments("chat prompt", Spread.logNormal(252, 330), 252, 330),
        arguments("chat answer", Spread.logNormal(225, 260), 225, 260),
        arguments("first context", Spread.logNormal(2_500, 2_500), 2_500, 2_500),
        arguments("turn", Spread.logNormal(100, 80), 100, 80),
        arguments("turn's answer", Spread.logNormal(250, 200), 250, 200),
        arguments("b2b question", Spread.normal(1_200, 360), 1_200, 360),
        arguments("reasoning answer", Spread.exponential(4_000), 4_000, 4_000),
        arguments("Poisson gap", Spread.gamma(0.01, 1), 0.01, 0.01),
        arguments("bursty gap", Spread.gamma(0.01, 4), 0.01, 0.04),
        arguments("even gap", Spread.gamma(2, 0.25), 2, 0.5),
        arguments("turns", Spread.geometric(5), 5, Math.sqrt(20)),
        arguments("fixed", Spread.fixed(3), 3, 0),
        arguments("either", Spread.either(Spread.fixed(0), Spread.fixed(10), 0.2), 2, 4));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("spreads")
  void hasTheMeanAndSpreadThatItSays(String name, Spread spread, double mean, double sd) {
    double[] values = draw(spread, 11);

    assertThat(mean(values)).isCloseTo(mean, within(5 * sd / Math.sqrt(DRAWS) + 1e-9));
    // the sd of a skewed sample converges slowly: its own error is that of the fourth moment
    assertThat(sd(values)).isCloseTo(sd, within(0.06 * sd + 1e-9));
  }

  @Test
  void logNormalHasTheMedianThatFollowsFromMeanAndSd() {
    double[] values = DoubleStream.of(draw(Spread.logNormal(252, 330), 5)).sorted().toArray();

    assertThat(values[DRAWS / 2])
        .isCloseTo(252 / Math.sqrt(1 + Math.pow(330.0 / 252, 2)), within(1.5));
  }

  @Test
  void clippedStaysInItsRangeAndReachesBothEnds() {
    double[] values = draw(Spread.logNormal(252, 330).clipped(4, 2_048), 3);

    assertThat(DoubleStream.of(values).min()).hasValue(4);
    assertThat(DoubleStream.of(values).max()).hasValue(2_048);
    assertThat(mean(values)).isCloseTo(clippedLogNormalMean(), within(2.0));
  }

  @Test
  void tokensAreWholeAndNeverNone() {
    var random = new SplittableRandom(1);

    assertThat(Spread.fixed(0.2).tokens(random)).isEqualTo(1);
    assertThat(Spread.normal(-5, 0).tokens(random)).isEqualTo(1);
    assertThat(Spread.fixed(7.6).tokens(random)).isEqualTo(8);
  }

  @Test
  void zipfIsInProportionToOneOverRank() {
    int ranks = 32;
    var zipf = new Zipf(ranks);
    var random = new SplittableRandom(9);
    int[] seen = new int[ranks];
    for (int i = 0; i < DRAWS; i++) {
      seen[zipf.draw(random)]++;
    }

    double harmonic = 0;
    for (int k = 1; k <= ranks; k++) {
      harmonic += 1.0 / k;
    }
    for (int k = 1; k <= ranks; k++) {
      double share = 1 / (k * harmonic);
      assertThat((double) seen[k - 1] / DRAWS)
          .as("rank %d", k)
          .isCloseTo(share, within(5 * Math.sqrt(share / DRAWS)));
    }
  }

  /** By the midpoint rule over the bell, apart from the code under test. */
  private static double clippedLogNormalMean() {
    double variance = Math.log(1 + Math.pow(330.0 / 252, 2));
    double mu = Math.log(252) - variance / 2;
    double sum = 0;
    double step = 1e-4;
    for (double z = -9; z < 9; z += step) {
      double x = Math.exp(mu + Math.sqrt(variance) * (z + step / 2));
      double bell = Math.exp(-(z + step / 2) * (z + step / 2) / 2) / Math.sqrt(2 * Math.PI);
      sum += Math.clamp(x, 4, 2_048) * bell * step;
    }
    return sum;
  }

  static double mean(double[] values) {
    return DoubleStream.of(values).average().orElseThrow();
  }

  static double sd(double[] values) {
    double mean = mean(values);
    return Math.sqrt(
        DoubleStream.of(values).map(v -> (v - mean) * (v - mean)).average().orElseThrow());
  }

  private static double[] draw(Spread spread, long seed) {
    var random = new SplittableRandom(seed);
    return DoubleStream.generate(() -> spread.draw(random)).limit(DRAWS).toArray();
  }
}
