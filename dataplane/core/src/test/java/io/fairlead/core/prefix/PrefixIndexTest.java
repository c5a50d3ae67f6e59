package io.fairlead.core.prefix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PrefixIndexTest {

  private static final long SALT = PrefixIndex.salt("model");

  /** Upstream loses the head of a chain first: one foreign block makes four blocks match none. */
  @Test
  void dropsTheDeepestBlockFirst() {
    PrefixIndex index = index(4);
    long[] four = {1, 2, 3, 4};
    learn(index, 0, SALT, four);
    learn(index, 0, SALT, new long[] {99});
    assertThat(match(index, SALT, four)).isEqualTo(3);
    assertThat(index.size(0)).isEqualTo(4);
  }

  /** Upstream leaks for ever when a prompt is longer than an endpoint's capacity. */
  @Test
  void aPromptLongerThanTheCapacityLeavesItsHeadOnly() {
    PrefixIndex index = index(10);
    for (int prompt = 0; prompt < 50; prompt++) {
      long[] blocks = LongStream.range(prompt * 1000L, prompt * 1000L + 100).toArray();
      learn(index, 0, SALT, blocks);
      assertThat(match(index, SALT, blocks)).isEqualTo(10);
      assertThat(index.size(0)).isEqualTo(10);
    }
    index.forget(0);
    assertThat(index.size(0)).isZero();
  }

  /** Upstream counts blocks that do not start at the prompt's head. */
  @Test
  void matchesOnlyFromTheHead() {
    PrefixIndex index = index(100);
    learn(index, 0, SALT, new long[] {5, 6, 7, 8, 9, 10});
    assertThat(match(index, SALT, new long[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})).isZero();
  }

  @Test
  void modelsShareNoBlocks() {
    PrefixIndex index = index(100);
    learn(index, 0, SALT, new long[] {1, 2});
    assertThat(match(index, PrefixIndex.salt("other"), new long[] {1, 2})).isZero();
  }

  @Test
  void anEmptyPromptMatchesNothing() {
    PrefixIndex index = index(100);
    learn(index, 0, SALT, new long[] {});
    assertThat(match(index, SALT, new long[] {})).isZero();
  }

  @Test
  void refusesCapacitiesBelowOne() {
    assertThatIllegalArgumentException().isThrownBy(() -> new PrefixIndex(0, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> index(1).capacity(0, 0));
  }

  @Test
  void refusesABoundBelowOneByte() {
    assertThatIllegalArgumentException().isThrownBy(() -> new PrefixIndex(1, 0));
  }

  @Test
  void withdrawsWhatNoOtherPromptNeeds() {
    PrefixIndex index = index(100);
    long[] shared = {1, 2};
    long[] longer = {1, 2, 3, 4, 5};
    learn(index, 0, SALT, shared);
    learn(index, 0, SALT, longer);
    withdraw(index, 0, SALT, longer, 2);
    assertThat(match(index, SALT, longer)).isEqualTo(2);

    learn(index, 0, SALT, longer);
    withdraw(index, 0, SALT, shared, 0);
    assertThat(match(index, SALT, longer)).as("the longer prompt needs it").isEqualTo(5);

    withdraw(index, 0, SALT, longer, 0);
    assertThat(index.size(0)).isZero();
    assertThat(index.bytes()).isZero();
  }

  @Test
  void withdrawingWhatIsNotThereChangesNothing() {
    PrefixIndex index = index(100);
    learn(index, 0, SALT, new long[] {1, 2, 3});
    withdraw(index, 0, SALT, new long[] {1, 2, 9}, 0);
    withdraw(index, 0, SALT, new long[] {7}, 0);
    withdraw(index, 0, SALT, new long[0], 0);
    assertThat(match(index, SALT, new long[] {1, 2, 3})).isEqualTo(3);
  }

  @Test
  void aForgottenEndpointsMemoryComesBackBitByBit() {
    PrefixIndex index = index(1000);
    index.forget(1);
    for (long prompt = 1; prompt <= 200; prompt++) {
      learn(index, 0, SALT, new long[] {prompt * 10, prompt * 10 + 1});
    }
    long full = index.bytes();
    index.forget(0);
    assertThat(index.size(0)).isZero();
    assertThat(index.bytes()).as("forgetting does no work").isEqualTo(full);
    for (int i = 0; i < 5; i++) {
      learn(index, 1, SALT, new long[] {5});
    }
    assertThat(index.bytes()).isLessThan(100);
  }

  @ParameterizedTest(name = "{0} endpoints, {1} blocks a prompt, shared by {2}")
  @CsvSource({
    "64, 64, 1, 48",
    "64, 8, 1, 48",
    "64, 3, 1, 48",
    "64, 64, 64, 16",
    "1024, 8, 1024, 16"
  })
  void staysBelowSoManyBytesPerBlockOfAnEndpoint(int endpoints, int blocks, int share, int most) {
    PrefixIndex index = new PrefixIndex(1 << 16, Long.MAX_VALUE);
    SplittableRandom random = new SplittableRandom(1);
    long held = 0;
    for (int e = 0; e < endpoints; e++) {
      index.forget(e);
    }
    for (int e = 0; e < endpoints; e += share) {
      for (int prompt = 0; prompt < 200; prompt++) {
        long[] hashes = random.longs(blocks).toArray();
        for (int holder = e; holder < e + share; holder++) {
          learn(index, holder, SALT, hashes);
          held += blocks;
        }
      }
    }
    assertThat((double) index.bytes() / held).isLessThanOrEqualTo(most);
    assertThat(index.allocatedBytes())
        .as("room to grow, in the fields but not in the blocks")
        .isLessThanOrEqualTo(index.bytes() * 2);
  }

  /** Two hours of virtual time at 50 prompts a second on a bound of 2 MiB. */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2})
  void churnStaysWithinItsBound(long seed) {
    long bound = 2 << 20;
    int endpoints = 32;
    PrefixIndex index = new PrefixIndex(20_000, bound);
    SplittableRandom random = new SplittableRandom(seed);
    for (int e = 0; e < endpoints; e++) {
      index.forget(e);
    }
    long most = 0;
    for (int i = 0; i < 2 * 3600 * 50; i++) {
      long[] prompt = prompt(random, 1 + i / 100);
      int endpoint = random.nextInt(endpoints);
      learn(index, endpoint, SALT, prompt);
      if (random.nextInt(20_000) == 0) {
        index.forget(random.nextInt(endpoints));
      }
      if (random.nextInt(10) == 0) {
        withdraw(index, endpoint, SALT, prompt, random.nextInt(prompt.length + 1));
      }
      most = Math.max(most, index.bytes());
    }
    assertThat(most).isGreaterThan(bound * 9 / 10).isLessThanOrEqualTo(bound + bound / 10);
    for (int e = 0; e < endpoints; e++) {
      index.forget(e);
    }
    while (index.bytes() > 100) {
      learn(index, 0, SALT, new long[] {1});
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void equalsANaiveModel(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    // Few, so that runs' holders are lists, or so many that they become bit sets.
    int endpoints = seed % 2 == 0 ? 1 + random.nextInt(6) : 100;
    PrefixIndex index = new PrefixIndex(64, Long.MAX_VALUE);
    List<NaiveLru> naive = new ArrayList<>();
    for (int e = 0; e < endpoints; e++) {
      index.forget(e);
      naive.add(new NaiveLru(64));
    }
    for (int i = 0; i < 40_000 / (3 + endpoints); i++) {
      int e = random.nextInt(endpoints);
      int kind = random.nextInt(1000);
      if (kind == 0) {
        index.forget(e);
        naive.set(e, new NaiveLru(64));
      } else if (kind < 5) {
        int capacity = 1 + random.nextInt(300);
        index.capacity(e, capacity);
        naive.get(e).capacity(capacity);
      } else {
        long[] prompt = prompt(random, 4);
        index.lookUp(SALT, prompt, prompt.length);
        for (int each = 0; each < endpoints; each++) {
          assertThat(naive.get(each).nests(prompt)).as("event %s: nests", i).isTrue();
          assertThat(index.held(each)).as("event %s", i).isEqualTo(naive.get(each).match(prompt));
        }
        learn(index, e, SALT, prompt);
        naive.get(e).learn(prompt);
      }
      assertThat(index.size(e)).isEqualTo(naive.get(e).size());
    }
  }

  /** A path down a random tree, each block standing for all before it, like a chained hash. */
  private static long[] prompt(SplittableRandom random, int roots) {
    long[] blocks = new long[random.nextInt(120)];
    long chain = random.nextInt(roots);
    for (int i = 0; i < blocks.length; i++) {
      long turn = random.nextInt(15) == 0 ? random.nextInt(3) : 0;
      chain = (chain + turn + 1) * 0x9E3779B97F4A7C15L;
      blocks[i] = chain ^ (chain >>> 29);
    }
    return blocks;
  }

  private static void learn(PrefixIndex index, int endpoint, long salt, long[] blocks) {
    index.learn(endpoint, salt, blocks, blocks.length);
  }

  private static void withdraw(
      PrefixIndex index, int endpoint, long salt, long[] blocks, int kept) {
    index.withdraw(endpoint, salt, blocks, blocks.length, kept);
  }

  private static int match(PrefixIndex index, long salt, long[] blocks) {
    index.lookUp(salt, blocks, blocks.length);
    return index.held(0);
  }

  private static PrefixIndex index(int capacity) {
    PrefixIndex index = new PrefixIndex(capacity, Long.MAX_VALUE);
    index.forget(0);
    return index;
  }

  /** Blocks by last use, oldest first. */
  private static final class NaiveLru {
    private final LinkedHashSet<Long> held = new LinkedHashSet<>();
    private int capacity;

    NaiveLru(int capacity) {
      this.capacity = capacity;
    }

    int size() {
      return held.size();
    }

    void capacity(int blocks) {
      capacity = blocks;
      trim();
    }

    void learn(long[] prompt) {
      long[] head = Arrays.copyOf(prompt, Math.min(prompt.length, capacity));
      for (int i = head.length - 1; i >= 0; i--) {
        held.remove(head[i]);
        held.add(head[i]);
      }
      trim();
    }

    int match(long[] prompt) {
      int i = 0;
      while (i < prompt.length && held.contains(prompt[i])) {
        i++;
      }
      return i;
    }

    boolean nests(long[] prompt) {
      int match = match(prompt);
      return Arrays.stream(prompt).skip(match).noneMatch(held::contains);
    }

    private void trim() {
      while (held.size() > capacity) {
        held.removeFirst();
      }
    }
  }
}
