package io.fairlead.core.account;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenEstimateTest {

  private final TokenEstimate estimate = new TokenEstimate();

  /** Bytes per token that are believed of a model now. */
  private double bytes(String model) {
    return 64 / estimate.of(model).blockTokens(1_000, 0);
  }

  private double mediaFactor(String model) {
    return estimate.of(model).tokens(0, 1_000_000) / 1e6;
  }

  @Test
  void beginsWithWhatIsUsual() {
    assertThat(estimate.of("m").tokens(4_003, 100)).isEqualTo(1_100);
    assertThat(TokenEstimate.usual(4_003, 100)).isEqualTo(1_100);
    assertThat(estimate.of("m").blockTokens(4_003, 100)).isEqualTo(16.0);
    assertThat(estimate.of("m").blockTokens(0, 0)).isEqualTo(16.0);
    assertThat(estimate.of("m").tokens(Long.MAX_VALUE, Integer.MAX_VALUE))
        .isEqualTo(Integer.MAX_VALUE);
    assertThat(TokenEstimate.usual(Long.MAX_VALUE, Integer.MAX_VALUE)).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void whatIsLearnedOfMoreReportsThanAnIntCountsIsTakenByAnother() {
    ModelTokens many = new ModelTokens();
    many.take(new double[] {4, 1, Integer.MAX_VALUE, Integer.MAX_VALUE});
    many.learn(80_000, 0, 10_000);
    many.learn(0, 10_000, 20_000);
    ModelTokens other = new ModelTokens();
    other.take(many.tell());
    assertThat(other.tell()).isEqualTo(many.tell());
  }

  @ParameterizedTest
  @ValueSource(doubles = {1.5, 2.7, 4, 4.6, 9})
  void learnsEachModelByItself(double truth) {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 200; i++) {
      int tokens = 1_000 + random.nextInt(10_000);
      estimate.learn("m", (long) (tokens * truth * random.nextDouble(0.9, 1.1)), 0, tokens);
    }
    assertThat(bytes("m")).isCloseTo(truth, within(0.05 * truth));
    assertThat(estimate.of("m").tokens(100_000, 0))
        .isCloseTo((int) (100_000 / truth), within((int) (5_000 / truth)));
    assertThat(bytes("other")).isEqualTo(4);
    assertThat(estimate.poolBlockTokens()).isCloseTo(64 / truth, within(0.05 * 64 / truth));
  }

  @Test
  void followsATokenizerThatIsAnotherOneNow() {
    for (int i = 0; i < 10_000; i++) {
      estimate.learn("m", 4_000, 0, 1_000);
    }
    for (int i = 0; i < 300; i++) {
      estimate.learn("m", 2_500, 0, 1_000);
    }
    assertThat(bytes("m")).isCloseTo(2.5, within(0.05));
  }

  @Test
  void learnsWhatOtherPartsCost() {
    for (int i = 0; i < 200; i++) {
      estimate.learn("m", 3_000, 0, 1_000);
      estimate.learn("m", 3_000, 800, 1_000 + 800 * 3);
    }
    assertThat(bytes("m")).isCloseTo(3, within(0.01));
    assertThat(mediaFactor("m")).isCloseTo(3, within(0.05));
    assertThat(estimate.of("m").tokens(3_000, 800)).isCloseTo(3_400, within(50));
    assertThat(estimate.of("m").blockTokens(3_000, 800))
        .as("all of the prompt's tokens over all of its blocks")
        .isCloseTo(3_400 / ((3_000 + 3_200) / 64.0), within(0.5));
  }

  @Test
  void oneAbsurdReportMovesLittle() {
    for (int i = 0; i < 100; i++) {
      estimate.learn("m", 3_000, 0, 1_000);
      estimate.learn("m", 3_000, 500, 2_000);
    }
    for (int absurd : new int[] {1, Integer.MAX_VALUE}) {
      estimate.learn("m", 1_000_000, 0, absurd);
      estimate.learn("m", 3_000, 500, absurd);
      assertThat(bytes("m")).isCloseTo(3, within(0.1));
      assertThat(mediaFactor("m")).isCloseTo(2, within(0.1));
    }
    for (int silent : new int[] {0, -1, Integer.MIN_VALUE}) {
      estimate.learn("n", 3_000, 0, silent);
    }
    assertThat(bytes("n")).isEqualTo(4);
  }

  @Test
  void staysWithinBoundsWhateverIsReported() {
    SplittableRandom random = new SplittableRandom(2);
    for (int i = 0; i < 100_000; i++) {
      int media = random.nextBoolean() ? 0 : random.nextInt(1 << random.nextInt(31));
      estimate.learn("m", random.nextLong(1L << random.nextInt(40)), media, random.nextInt());
      assertThat(bytes("m")).isBetween(1.0, 12.0);
      assertThat(mediaFactor("m")).isBetween(0.0999, 10.0);
    }
    for (int i = 0; i < 5_000; i++) {
      estimate.learn("dense", 10_000, 0, 1_000_000);
      estimate.learn("sparse", 10_000_000, 0, 1);
      estimate.learn("dense", 10_000, 1_000, 1);
      estimate.learn("sparse", 1_000, 1_000, 1_000_000);
    }
    assertThat(bytes("dense")).isEqualTo(1);
    assertThat(bytes("sparse")).isEqualTo(12);
    assertThat(mediaFactor("dense")).isCloseTo(0.1, within(1e-6));
    assertThat(mediaFactor("sparse")).isEqualTo(10);
  }

  @Test
  void shortPromptsSayLittle() {
    for (int i = 0; i < 3; i++) {
      estimate.learn("m", 20, 0, 30);
    }
    assertThat(bytes("m")).isCloseTo(4, within(0.05));
  }

  @Test
  void forgetsTheModelThatWasUsedLeastRecently() {
    for (int i = 0; i < 1_024; i++) {
      estimate.learn("m" + i, 30_000, 0, 10_000);
    }
    assertThat(bytes("m0")).as("used again").isLessThan(4);
    estimate.learn("one more", 30_000, 0, 10_000);
    for (int i = 0; i < 1_000; i++) {
      assertThat(bytes("never heard of " + i)).isEqualTo(4);
    }
    assertThat(bytes("m0")).isLessThan(4);
    assertThat(bytes("m1")).isEqualTo(4);
    assertThat(bytes("m2")).isLessThan(4);
  }
}
