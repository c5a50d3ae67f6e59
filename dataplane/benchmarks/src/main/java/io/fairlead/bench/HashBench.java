package io.fairlead.bench;

import io.fairlead.core.prefix.BlockHasher;
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

/** Chained block hashes of one prompt; allocates the array that is handed over. */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class HashBench {

  /** Size of the prompt. */
  @Param("131072")
  public int bytes;

  private final BlockHasher hasher = new BlockHasher(1 << 16);
  private byte[] prompt = {};

  /** Makes the prompt. */
  @Setup
  public void prompt() {
    prompt = new byte[bytes];
    new SplittableRandom(1).nextBytes(prompt);
  }

  /** Hashes it in one piece. */
  @Benchmark
  public long[] hash() {
    hasher.reset();
    hasher.add(prompt, 0, prompt.length);
    return hasher.blocks();
  }
}
