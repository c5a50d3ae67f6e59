package io.fairlead.bench;

import io.fairlead.core.prefix.PrefixIndex;
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
 * The longest match of a 512-block prompt on every endpoint, in an index that also holds 2,000
 * other prompts.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class LookupBench {

  private static final int BLOCKS = 512;
  private static final int PROMPTS = 64;
  private static final int OTHERS = 2_000;
  private static final long SALT = PrefixIndex.salt("model");

  /** Endpoints in the pool. */
  @Param({"64", "1024"})
  public int endpoints;

  /**
   * Who holds the prompt: one endpoint, all of them, or each a different part of it, so that it is
   * cut into as many runs as can be.
   */
  @Param({"one", "all", "parts"})
  public String holders = "";

  private final PrefixIndex index = new PrefixIndex(1 << 20, Long.MAX_VALUE);
  private final long[][] prompts = new long[PROMPTS][];
  private int next;

  /** Fills the index. */
  @Setup
  public void fill() {
    SplittableRandom random = new SplittableRandom(1);
    for (int e = 0; e < endpoints; e++) {
      index.forget(e);
    }
    for (int i = 0; i < OTHERS; i++) {
      index.learn(random.nextInt(endpoints), SALT, random.longs(BLOCKS).toArray(), BLOCKS);
    }
    for (int p = 0; p < PROMPTS; p++) {
      long[] prompt = random.longs(BLOCKS).toArray();
      prompts[p] = prompt;
      for (int e = 0; e < endpoints; e++) {
        switch (holders) {
          case "all" -> index.learn(e, SALT, prompt, BLOCKS);
          case "parts" -> {
            long[] part = new long[1 + e % BLOCKS];
            System.arraycopy(prompt, 0, part, 0, part.length);
            index.learn(e, SALT, part, part.length);
          }
          default -> {
            if (e == p % endpoints) {
              index.learn(e, SALT, prompt, BLOCKS);
            }
          }
        }
      }
    }
  }

  /** One prompt on all endpoints. */
  @Benchmark
  public int lookup() {
    index.lookUp(SALT, prompts[next++ % PROMPTS], BLOCKS);
    int sum = 0;
    for (int e = 0; e < endpoints; e++) {
      sum += index.held(e);
    }
    return sum;
  }
}
