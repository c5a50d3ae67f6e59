package io.fairlead.bench;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Requests through flow control, of a hundred models with prompts of 1,000 tokens and blocks that
 * they share with nobody.
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 4, time = 1)
@Fork(1)
public class FlowBench {

  /**
   * From the end that makes room until the next request is sent: one that comes now, or the one of
   * those who wait whose turn it is.
   */
  @Benchmark
  public int pick(Prepared pool) {
    return pool.end(pool.waiting == 0);
  }

  /** All of that: one has its first token, one ends, one comes, one goes. */
  @Benchmark
  public int turn(Pool pool) {
    pool.answer();
    return pool.end(true);
  }

  /** Servers that are full but for one place, or all of them and the queue. */
  @State(Scope.Thread)
  public static class Pool implements RequestListener {

    private static final int FLOWS = 100;
    private static final int ENDPOINTS = 8;
    private static final long ROOM = 32;
    private static final int TOKENS = 1_000;

    /** Requests that wait all the time. */
    @Param({"0", "5000"})
    public int waiting;

    private final PoolCore core = new PoolCore();
    private final SplittableRandom random = new SplittableRandom(1);
    private final Deque<Long> sent = new ArrayDeque<>();
    private final RequestFacts[] requests = new RequestFacts[FLOWS];
    private int next;
    private long now;
    private long ends;

    /** Fills all endpoints but for one place, or all of them and the queue. */
    @Setup
    public void fill() {
      core.configure(
          0,
          new ConfigCompiler(List.of())
              .compile(
                  new PoolConfig(
                      "default",
                      "pool",
                      Map.of("app", "vllm"),
                      List.of(8000),
                      "http",
                      IntStream.range(0, FLOWS)
                          .mapToObj(i -> new ModelConfig("m" + i, Criticality.STANDARD, List.of()))
                          .toList(),
                      new SchedulerConfig(
                          List.of(
                              new PluginConfig("cost", "work-cost", Map.of()),
                              new PluginConfig(
                                  "room", "concurrency-detector", Map.of("maxConcurrency", ROOM))),
                          List.of(),
                          "room"))));
      core.endpoints(
          0,
          IntStream.range(0, ENDPOINTS)
              .mapToObj(i -> new EndpointSpec("e" + i, "1", "10.0.0.1", 8000, Map.of()))
              .toList());
      for (int i = 0; i < FLOWS; i++) {
        long[] blocks = random.longs(TOKENS / 16).toArray();
        requests[i] = new RequestFacts("m" + i, random.nextLong(), blocks, TOKENS, -1, TOKENS * 4L);
      }
      long all = waiting == 0 ? ENDPOINTS * ROOM - 1 : ENDPOINTS * ROOM + waitingAtFirst();
      for (long i = 0; i < all; i++) {
        arrive();
      }
      if (core.waiting() != waitingAtFirst()) {
        throw new IllegalStateException(core.waiting() + " wait at first");
      }
    }

    int waitingAtFirst() {
      return waiting;
    }

    long arrive() {
      return core.arrive(now, requests[next++ % FLOWS], this);
    }

    void hangUp(long request) {
      core.ended(now, request, Outcome.DISCONNECTED, Usage.UNKNOWN);
    }

    void answer() {
      now += 1_000_000;
      ends = sent.removeFirst();
      core.firstByte(now, ends);
    }

    int end(boolean another) {
      core.ended(now, ends, Outcome.COMPLETED, Usage.UNKNOWN);
      if (another) {
        arrive();
      }
      return sent.size();
    }

    @Override
    public void send(long request, Route route) {
      sent.add(request);
    }

    @Override
    public void pass(long request) {}

    @Override
    public void reject(long request, Rejection rejection) {
      throw new IllegalStateException(rejection.toString());
    }
  }

  /** What is not timed of {@link #pick}: the first token of one, and who will have to wait. */
  @State(Scope.Thread)
  public static class Prepared extends Pool {

    @Override
    int waitingAtFirst() {
      return Math.max(0, waiting - 1);
    }

    /** Has one more come where others wait. */
    @Setup(Level.Invocation)
    public void come() {
      answer();
      if (waiting > 0) {
        arrive();
      }
    }
  }
}
