package io.fairlead.core.plugins.learn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class OutputLengthsTest {

  private final OutputLengths lengths = new OutputLengths();
  private final SplittableRandom random = new SplittableRandom(1);

  @Test
  void ofAnswersThatAreAlikeHalfIsThere() {
    for (int i = 0; i < 2_000; i++) {
      lengths.add("m", 300);
    }
    assertThat(lengths.of("m")).isCloseTo(300, within(1.0));
    assertThat(lengths.underWay()).isCloseTo(150, within(1.0));
  }

  @Test
  void thoseUnderWayAreTheLongOnes() {
    for (int i = 0; i < 20_000; i++) {
      lengths.add("m", random.nextInt(10) == 0 ? 4_000 : 8);
    }
    // Nearly all that are under way are of 4,000 tokens, half of which is there.
    assertThat(lengths.underWay()).isBetween(1_900.0, 2_000.0);
    assertThat(lengths.mean()).isBetween(100.0, 1_000.0);
  }

  @Test
  void oneAbsurdNumberIsNoMemory() {
    for (int i = 0; i < 2_000; i++) {
      lengths.add("m", random.nextInt(1, 600));
    }
    double before = lengths.underWay();
    lengths.add("m", Integer.MAX_VALUE);
    assertThat(lengths.underWay()).isBetween(before, 4 * before);
    assertThat(lengths.mean()).isLessThan(600);
  }

  @Test
  void eachModelHasItsOwn() {
    for (int i = 0; i < 1_000; i++) {
      lengths.add("short", 10);
      lengths.add("long", 1_000);
    }
    assertThat(lengths.of("short")).isCloseTo(10, within(1.0));
    assertThat(lengths.of("long")).isCloseTo(1_000, within(1.0));
    assertThat(lengths.of("never seen")).isEqualTo(lengths.mean()).isBetween(400.0, 600.0);
  }

  @Test
  void namesThatAreMadeUpTakeNoMoreRoom() {
    for (int i = 0; i < 5_000; i++) {
      lengths.add("m" + i, 100);
    }
    AtomicInteger kept = new AtomicInteger();
    lengths.tell((model, told) -> kept.incrementAndGet());
    assertThat(kept).hasValueLessThan(1_100);
  }

  /** Adapters come and go for as long as a pool is there. */
  @Test
  void theOneThatAnsweredLongestAgoMakesRoom() {
    for (int i = 0; i < 5_000; i++) {
      lengths.add("m" + i, 100);
      lengths.add("usual", 100);
    }
    for (int i = 0; i < 300; i++) {
      lengths.add("m4999", 10);
      lengths.add("usual", 1_000);
    }
    assertThat(lengths.of("m4999")).isCloseTo(10, within(1.0));
    assertThat(lengths.of("usual")).isCloseTo(1_000, within(10.0));
    assertThat(lengths.of("m0")).as("has none of its own").isEqualTo(lengths.mean());
  }

  @Test
  void whatIsTakenOverKeepsTheBound() {
    for (int i = 0; i < 5_000; i++) {
      lengths.take("m" + i, new double[] {100});
    }
    lengths.take("m4999", new double[] {7});
    assertThat(lengths.of("m4999")).isEqualTo(7);
    assertThat(lengths.of("m0")).isEqualTo(lengths.mean());
  }
}
