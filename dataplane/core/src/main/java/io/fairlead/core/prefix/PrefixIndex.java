package io.fairlead.core.prefix;

import com.dynatrace.hash4j.hashing.Hashing;
import java.util.Arrays;

/**
 * Which endpoint is believed to hold which prompt blocks in its KV cache, learned from what was
 * sent where. Not thread-safe; owned by the pool's loop.
 *
 * <p>What an endpoint holds always nests: a block is held only together with every block before it.
 * This follows from touching a prompt's blocks last first, so that the least recently touched block
 * of all has no block behind it, and dropping just that one, as an engine does. So the longest
 * match is found by bisection, and a prompt longer than an endpoint's capacity leaves its head, no
 * more.
 *
 * <p>Bound: {@link #capacity} blocks per endpoint, 16 bytes each in a table filled to at most three
 * quarters. Hashes are salted by target model at look-up, as models share no KV blocks.
 */
public final class PrefixIndex {

  private static final LruBlocks[] NONE = {};

  private final int defaultCapacity;
  private LruBlocks[] held = NONE;

  /**
   * An index that knows nothing yet.
   *
   * @param defaultCapacity blocks that an endpoint of unknown size is believed to hold, at least 1
   */
  public PrefixIndex(int defaultCapacity) {
    if (defaultCapacity < 1) {
      throw new IllegalArgumentException("defaultCapacity is " + defaultCapacity + "; set 1 or up");
    }
    this.defaultCapacity = defaultCapacity;
  }

  /** What to pass as {@code salt} for prompts sent to this model. */
  public static long salt(String targetModel) {
    return Hashing.wyhashFinal4().hashCharsToLong(targetModel);
  }

  /** Makes room for an endpoint that holds nothing, whoever had the number before. */
  public void forget(int endpoint) {
    if (endpoint >= held.length) {
      held = Arrays.copyOf(held, Math.max(endpoint + 1, held.length * 2));
    }
    held[endpoint] = new LruBlocks(defaultCapacity);
  }

  /** Sets how many blocks an endpoint can hold, at least 1; drops what is too much. */
  public void capacity(int endpoint, int blocks) {
    held[endpoint].capacity(blocks);
  }

  /** Blocks that an endpoint is believed to hold. */
  public int size(int endpoint) {
    return held[endpoint].size();
  }

  /** How many leading blocks of a prompt this endpoint is believed to hold. */
  public int match(int endpoint, long salt, long[] blocks) {
    return match(held[endpoint], salt, blocks, 0);
  }

  /**
   * The same for many endpoints at once.
   *
   * @param endpoints numbers of the endpoints, {@code count} of them
   * @param matched filled with the result for each
   */
  public void match(int[] endpoints, int count, long salt, long[] blocks, int[] matched) {
    int guess = 0;
    for (int i = 0; i < count; i++) {
      matched[i] = match(held[endpoints[i]], salt, blocks, guess);
      if (matched[i] > 0) {
        guess = matched[i];
      }
    }
  }

  /** A prompt was sent to this endpoint: it will hold its blocks, and has used them just now. */
  public void learn(int endpoint, long salt, long[] blocks) {
    LruBlocks own = held[endpoint];
    for (int i = Math.min(blocks.length, own.capacity()) - 1; i >= 0; i--) {
      own.touch(key(salt, blocks[i]));
    }
  }

  /** A prompt was not computed there after all: of its blocks only the first {@code kept} stay. */
  public void withdraw(int endpoint, long salt, long[] blocks, int kept) {
    LruBlocks own = held[endpoint];
    for (int i = blocks.length - 1; i >= kept; i--) {
      own.drop(key(salt, blocks[i]));
    }
  }

  /**
   * Bisection that first looks where the answer often is: at the first block (cold endpoint), at
   * the last (the same prompt again) and at the answer for the endpoint before.
   */
  private static int match(LruBlocks own, long salt, long[] blocks, int guess) {
    int length = blocks.length;
    if (length == 0 || own.size() == 0 || !own.contains(key(salt, blocks[0]))) {
      return 0;
    }
    if (own.contains(key(salt, blocks[length - 1]))) {
      return length;
    }
    // Invariant: block low - 1 is held, block high is not.
    int low = 1;
    int high = length - 1;
    if (guess > low && guess <= high) {
      if (own.contains(key(salt, blocks[guess - 1]))) {
        low = guess;
        if (!own.contains(key(salt, blocks[guess]))) {
          return guess;
        }
        low = guess + 1;
      } else {
        high = guess - 1;
      }
    }
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (own.contains(key(salt, blocks[middle]))) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Never 0, which marks an empty place in the tables. */
  private static long key(long salt, long block) {
    long z = (block ^ salt) * 0xD6E8FEB86659FD93L;
    z ^= z >>> 32;
    return z == 0 ? 1 : z;
  }
}
