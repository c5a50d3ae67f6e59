package io.fairlead.core.account;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SharedBlocksTest {

  private static final int DEPTHS_LOOKED_AT = 4;

  private final SharedBlocks shared = new SharedBlocks();

  @Test
  void countsAPrefixForAllButOne() {
    shared.add(1, blocks(7, 40, 50), 50);
    assertThat(shared.repeated()).isZero();

    shared.add(1, blocks(7, 40, 60), 60);
    assertThat(shared.repeated()).isEqualTo(40);
    shared.add(1, blocks(7, 40, 41), 41);
    assertThat(shared.repeated()).isEqualTo(80);

    shared.remove(1, blocks(7, 40, 50), 50);
    assertThat(shared.repeated()).isEqualTo(40);
  }

  @Test
  void modelsShareNothing() {
    shared.add(1, blocks(7, 40, 40), 40);
    shared.add(2, blocks(7, 40, 40), 40);
    assertThat(shared.repeated()).isZero();
  }

  @Test
  void blocksThatDontCountAreNotShared() {
    shared.add(1, blocks(7, 40, 40), 10);
    shared.add(1, blocks(7, 40, 40), 12);
    shared.add(1, blocks(7, 40, 40), 0);
    assertThat(shared.repeated()).isEqualTo(10);
  }

  /** Never above the truth, below it by less than a quarter, and nothing is left in the end. */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void isNearTheTruthWhateverComesAndGoes(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Long, Integer> plain = new HashMap<>();
    List<long[]> prompts = new ArrayList<>();
    long total = 0;
    for (int i = 0; i < 4_000; i++) {
      if (random.nextInt(100) < (prompts.size() < 60 ? 60 : 40)) {
        long[] prompt = blocks(random.nextInt(5), 1 + random.nextInt(700), 1 + random.nextInt(900));
        prompts.add(prompt);
        shared.add(seed, prompt, prompt.length);
        for (long block : prompt) {
          plain.merge(block, 1, Integer::sum);
        }
        total += prompt.length;
      } else if (!prompts.isEmpty()) {
        long[] prompt = prompts.remove(random.nextInt(prompts.size()));
        if (random.nextBoolean()) {
          shared.remove(seed, prompt, prompt.length);
        } else {
          long[] kept = SharedBlocks.sample(prompt, prompt.length, new long[random.nextInt(60)]);
          shared.removeSampled(seed, kept, prompt.length);
        }
        for (long block : prompt) {
          plain.compute(block, (b, n) -> n == null || n == 1 ? null : n - 1);
        }
        total -= prompt.length;
      }
      long truth = total - plain.size();
      assertThat(shared.repeated())
          .as("event %d of seed %d", i, seed)
          .isBetween(truth - truth / DEPTHS_LOOKED_AT - 1, truth);
    }
    prompts.forEach(prompt -> shared.remove(seed, prompt, prompt.length));
    assertThat(shared.repeated()).isZero();
  }

  /** Chained hashes: the same for the same group up to where the prompt leaves it. */
  private static long[] blocks(int group, int common, int length) {
    long[] blocks = new long[length];
    long chain = group;
    for (int i = 0; i < length; i++) {
      chain = (chain + (i < common ? i : i * 1_000_003L + length)) * 0x9E3779B97F4A7C15L;
      blocks[i] = chain ^ (chain >>> 29);
    }
    return blocks;
  }
}
