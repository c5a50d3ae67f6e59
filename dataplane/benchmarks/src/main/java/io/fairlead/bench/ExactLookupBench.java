package io.fairlead.bench;

import io.fairlead.core.prefix.CacheChange;
import io.fairlead.core.prefix.CacheEvent;
import io.fairlead.core.prefix.EngineCache;
import io.fairlead.core.prefix.ExactIndex;
import io.fairlead.core.prefix.PromptTokens;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The longest match of a prompt of 32,768 tokens on every endpoint, by what their engines say they
 * hold: each ten other prompts that begin alike.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ExactLookupBench {

  private static final int GRAIN = 16;
  private static final int TOKENS = 32_768;
  private static final int COMMON = 1_024;
  private static final int OTHERS = 10;
  private static final int OTHER_TOKENS = 4_096;

  /** Endpoints in the pool. */
  @Param({"64", "1024"})
  public int endpoints;

  /** Who holds all of the prompt: few endpoints or all; the others hold its beginning. */
  @Param({"few", "all"})
  public String holders = "";

  private final ExactIndex index = new ExactIndex(Long.MAX_VALUE);
  private final SplittableRandom random = new SplittableRandom(1);
  private final int[] prompt = random.ints(TOKENS).toArray();
  private final PromptTokens asked = PromptTokens.of(prompt, GRAIN);
  private long hash;

  /** Fills the index. */
  @Setup
  public void fill() {
    for (int e = 0; e < endpoints; e++) {
      EngineCache cache = new EngineCache(GRAIN, 1 << 20);
      CacheChange change = new CacheChange();
      for (int i = 0; i < OTHERS; i++) {
        int[] other = random.ints(OTHER_TOKENS).toArray();
        System.arraycopy(prompt, 0, other, 0, COMMON);
        store(cache, other, change);
      }
      if (holders.equals("all") || e < 4) {
        store(cache, Arrays.copyOf(prompt, TOKENS), change);
      }
      index.change(e, GRAIN, change.whole(true));
    }
  }

  private void store(EngineCache cache, int[] tokens, CacheChange change) {
    long[] hashes = new long[tokens.length / GRAIN];
    Arrays.setAll(hashes, i -> ++hash);
    cache.apply(new CacheEvent.Stored(hashes, false, 0, tokens, GRAIN, "", false), change);
  }

  /** One prompt on all endpoints. */
  @Benchmark
  public int lookup() {
    index.lookUp(0, asked);
    int sum = 0;
    for (int e = 0; e < endpoints; e++) {
      sum += index.tokens(e, asked);
    }
    return sum;
  }
}
