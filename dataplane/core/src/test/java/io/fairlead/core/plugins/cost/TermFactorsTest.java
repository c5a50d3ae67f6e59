package io.fairlead.core.plugins.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The terms are those of a decode step: fixed, per sequence, per token. */
class TermFactorsTest {

  private static final double[] ASSUMED = {8, 0.016, 6.5e-5};

  private final SplittableRandom random = new SplittableRandom(1);

  private double[] terms() {
    double batch = 1 + random.nextInt(100);
    double[] terms = {
      ASSUMED[0], ASSUMED[1] * batch, ASSUMED[2] * batch * random.nextDouble(200, 2_000)
    };
    return terms;
  }

  private static double sum(double[] terms, double... factors) {
    double sum = 0;
    for (int i = 0; i < terms.length; i++) {
      sum += terms[i] * factors[i];
    }
    return sum;
  }

  /** Up to 25 % off either way. */
  private double noise() {
    return 1 + random.nextDouble(-0.25, 0.25);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.025, 0.3, 1, 4, 30})
  void tenObservationsCorrectTheScale(double scale) {
    TermFactors factors = new TermFactors(3);
    for (int i = 0; i < 10; i++) {
      double[] terms = terms();
      factors.observe(terms, sum(terms, scale, scale, scale) * noise());
    }
    double[] terms = terms();
    assertThat(factors.sum(terms) / sum(terms, scale, scale, scale)).isCloseTo(1, within(0.25));
  }

  @ParameterizedTest
  @CsvSource({"0.8, 0.7, 0.6", "0.05, 0.04, 0.08", "2, 5, 3", "0.2, 0.3, 0.1"})
  void thousandsTellTheTermsApart(double step, double sequence, double token) {
    TermFactors factors = new TermFactors(3);
    for (int i = 0; i < 5_000; i++) {
      double[] terms = terms();
      factors.observe(terms, sum(terms, step, sequence, token) * noise());
    }
    double[] few = {ASSUMED[0], ASSUMED[1], ASSUMED[2] * 100};
    double[] many = {ASSUMED[0], ASSUMED[1] * 100, ASSUMED[2] * 200_000};
    assertThat(factors.sum(few) / sum(few, step, sequence, token)).isCloseTo(1, within(0.1));
    assertThat(factors.sum(many) / sum(many, step, sequence, token)).isCloseTo(1, within(0.1));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void whatNoFactorsExplainMakesNoneAbsurd(long seed) {
    SplittableRandom wild = new SplittableRandom(seed);
    TermFactors factors = new TermFactors(3);
    for (int i = 0; i < 20_000; i++) {
      double[] terms = terms();
      // The larger the batch the quicker the step, with stalls and instant answers between.
      double observed = 1_000 / terms[1] * Math.exp(wild.nextDouble(-6, 6));
      factors.observe(terms, observed);
      for (int term = 0; term < 3; term++) {
        assertThat(factors.factor(term)).isBetween(0.01, 100.0);
      }
      assertThat(factors.sum(terms)).isPositive().isFinite();
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.5, 2})
  void followsAClassThatBecomesAnother(double change) {
    TermFactors factors = new TermFactors(3);
    for (int i = 0; i < 10_000; i++) {
      double[] terms = terms();
      factors.observe(terms, sum(terms, 1, 1, 1) * noise());
    }
    for (int i = 0; i < 2_000; i++) {
      double[] terms = terms();
      factors.observe(terms, sum(terms, change, change, change) * noise());
    }
    double[] terms = terms();
    assertThat(factors.sum(terms) / sum(terms, change, change, change)).isCloseTo(1, within(0.1));
  }

  /** Nothing tells the terms apart then, and rounding adds up. */
  @Test
  void aMillionObservationsOfOneKindLeaveItAsItIs() {
    TermFactors factors = new TermFactors(3);
    double[] terms = {ASSUMED[0], ASSUMED[1] * 30, ASSUMED[2] * 30_000};
    for (int i = 0; i < 1_000_000; i++) {
      factors.observe(terms, 2 * sum(terms, 1, 1, 1) * noise());
    }
    assertThat(factors.sum(terms) / sum(terms, 1, 1, 1)).isCloseTo(2, within(0.1));
    for (int i = 0; i < 3_000; i++) {
      double[] others = terms();
      factors.observe(others, sum(others, 1, 1, 1) * noise());
    }
    double[] others = terms();
    assertThat(factors.sum(others) / sum(others, 1, 1, 1)).isCloseTo(1, within(0.15));
  }
}
