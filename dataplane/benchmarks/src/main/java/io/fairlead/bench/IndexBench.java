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
 * The index learns a prompt of 512 blocks in a full index: 64 endpoints of 8,192 blocks each, so
 * that each new block takes the place of an old one.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class IndexBench {

  private static final int BLOCKS = 512;
  private static final int CAPACITY = 8_192;
  private static final long SALT = PrefixIndex.salt("model");

  /** Endpoints in the pool. */
  @Param("64")
  public int endpoints;

  /** The prompts: each new, each new behind 256 blocks that all share, or the same ones again. */
  @Param({"new", "half", "again"})
  public String prompts = "";

  private final PrefixIndex index = new PrefixIndex(CAPACITY, Long.MAX_VALUE);
  private final SplittableRandom random = new SplittableRandom(1);
  private final long[][] known = new long[256][];
  private final long[] prompt = new long[BLOCKS];
  private int next;

  /** Fills the index. */
  @Setup
  public void fill() {
    for (int e = 0; e < endpoints; e++) {
      index.forget(e);
    }
    for (int i = 0; i < known.length; i++) {
      known[i] = random.longs(BLOCKS).toArray();
    }
    System.arraycopy(known[0], 0, prompt, 0, BLOCKS);
    for (int i = 0; i < endpoints * CAPACITY / BLOCKS * 2; i++) {
      learn();
    }
  }

  /** One prompt on one endpoint. */
  @Benchmark
  public void index() {
    learn();
  }

  private void learn() {
    int endpoint = next % endpoints;
    switch (prompts) {
      case "again" -> index.learn(endpoint, SALT, known[next % known.length], BLOCKS);
      case "half" -> {
        refresh(BLOCKS / 2);
        index.learn(endpoint, SALT, prompt, BLOCKS);
      }
      default -> {
        refresh(0);
        index.learn(endpoint, SALT, prompt, BLOCKS);
      }
    }
    next++;
  }

  private void refresh(int from) {
    for (int i = from; i < BLOCKS; i++) {
      prompt[i] = random.nextLong();
    }
  }
}
