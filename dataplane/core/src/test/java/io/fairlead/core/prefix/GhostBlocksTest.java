package io.fairlead.core.prefix;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How many of the blocks that the index's endpoints lose are asked for again. */
class GhostBlocksTest {

  private static final long SALT = PrefixIndex.salt("model");
  private static final int BLOCKS = 20;

  private final SplittableRandom random = new SplittableRandom(20261129);

  @Test
  void nobodyMissesWhatNeverComesAgain() {
    PrefixIndex index = index(2, 1_000);
    for (int prompt = 0; prompt < 1_000; prompt++) {
      index.learn(prompt % 2, SALT, prompt(prompt), BLOCKS);
    }
    assertThat(index.ghostHits()).isZero();
  }

  @Test
  void nothingIsMissedWhileAllThatComesFits() {
    PrefixIndex index = index(2, 1_000);
    for (int n = 0; n < 1_000; n++) {
      int prompt = random.nextInt(80);
      index.learn(prompt % 2, SALT, prompt(prompt), BLOCKS);
    }
    assertThat(index.ghostHits()).isZero();
  }

  /** With the least recently used gone first each of them is gone when its turn comes. */
  @ParameterizedTest
  @ValueSource(ints = {600, 10_000, 400_000})
  void mostIsMissedWherePromptsComeInTurnsAndDoNotFit(int capacity) {
    PrefixIndex index = index(2, capacity);
    int prompts = 5 * capacity / 2 / BLOCKS;
    for (int n = 0; n < 5 * prompts; n++) {
      index.learn(n % 2, SALT, prompt(n % prompts), BLOCKS);
    }
    assertThat(index.ghostHits()).isBetween(0.6, 1.0);
  }

  /** Every other prompt is new, and each of the others comes soon after it is lost. */
  @ParameterizedTest
  @ValueSource(ints = {1_000, 100_000, 1_000_000})
  void halfIsMissedWhereHalfComesAgain(int capacity) {
    PrefixIndex index = index(1, capacity);
    int prompts = 3 * capacity / 4 / BLOCKS;
    for (int n = 0; n < 8 * prompts; n++) {
      index.learn(0, SALT, prompt(n % 2 == 0 ? n / 2 % prompts : prompts + n), BLOCKS);
    }
    assertThat(index.ghostHits()).isBetween(0.35, 0.5);
  }

  /** A little more room would not keep it either. */
  @ParameterizedTest
  @ValueSource(ints = {1_000, 100_000})
  void whatComesAgainAfterLongIsNotMissed(int capacity) {
    PrefixIndex index = index(1, capacity);
    int prompts = 20 * capacity / BLOCKS;
    for (int n = 0; n < 2 * prompts; n++) {
      index.learn(0, SALT, prompt(n % prompts), BLOCKS);
    }
    assertThat(index.ghostHits()).isLessThan(0.05);
  }

  @Test
  void aCopyIsNotMissedWhereAnotherEndpointHasIt() {
    PrefixIndex index = index(2, 1_000);
    int prompts = 1_000 / BLOCKS;
    for (int n = 0; n < 4_000; n++) {
      // One endpoint keeps them all, the other one loses each for a new one.
      index.learn(0, SALT, prompt(n % prompts), BLOCKS);
      index.learn(1, SALT, prompt(n % 2 == 0 ? n % prompts : prompts + n), BLOCKS);
    }
    assertThat(index.ghostHits()).isZero();
  }

  @Test
  void whatWasMissedIsForgottenWhenTheTrafficIsAnother() {
    PrefixIndex index = index(1, 1_000);
    int prompts = 2_000 / BLOCKS;
    for (int n = 0; n < 10 * prompts; n++) {
      index.learn(0, SALT, prompt(n % prompts), BLOCKS);
    }
    assertThat(index.ghostHits()).isGreaterThan(0.5);
    for (int n = 0; n < 10 * prompts; n++) {
      index.learn(0, SALT, prompt(prompts + n), BLOCKS);
    }
    assertThat(index.ghostHits()).isLessThan(0.05);
  }

  /** What a pool had room for when it was larger is no room now. */
  @Test
  void endpointsThatLeftHaveNoRoomForAnything() {
    PrefixIndex index = index(21, 1_000);
    for (int endpoint = 1; endpoint <= 20; endpoint++) {
      index.leave(endpoint);
    }
    int prompts = 20 * 1_000 / BLOCKS;
    for (int n = 0; n < 2 * prompts; n++) {
      index.learn(0, SALT, prompt(n % prompts), BLOCKS);
    }
    assertThat(index.ghostHits()).as("it comes again after long").isLessThan(0.05);
  }

  @Test
  void anEndpointThatTakesTheNumberOfOneThatLeftHasRoomAgain() {
    PrefixIndex index = index(2, 1_000);
    index.learn(1, SALT, prompt(1), BLOCKS);
    index.leave(1);
    assertThat(index.size(1)).isZero();
    index.forget(1);
    assertThat(index.capacity(1)).isEqualTo(1_000);
    index.learn(1, SALT, prompt(1), BLOCKS);
    assertThat(index.size(1)).isEqualTo(BLOCKS);
  }

  /** Endpoints that join have room: what is stored there drives nothing out. */
  @Test
  void whatWasMissedIsForgottenOnceThereIsRoom() {
    PrefixIndex index = index(1, 10_000);
    int prompts = 20_000 / BLOCKS;
    for (int n = 0; n < 10 * prompts; n++) {
      index.learn(0, SALT, prompt(n % prompts), BLOCKS);
    }
    assertThat(index.ghostHits()).isGreaterThan(0.5);
    for (int endpoint = 1; endpoint < 10; endpoint++) {
      index.forget(endpoint);
    }
    for (int n = 0; n < 3 * prompts; n++) {
      index.learn(1 + n % 9, SALT, prompt(n), BLOCKS);
    }
    assertThat(index.ghostHits()).isLessThan(0.2);
  }

  private static PrefixIndex index(int endpoints, int capacity) {
    PrefixIndex index = new PrefixIndex(capacity, 1L << 30);
    for (int endpoint = 0; endpoint < endpoints; endpoint++) {
      index.forget(endpoint);
    }
    return index;
  }

  private static long[] prompt(int number) {
    SplittableRandom blocks = new SplittableRandom(number);
    return LongStream.generate(blocks::nextLong).limit(BLOCKS).toArray();
  }
}
