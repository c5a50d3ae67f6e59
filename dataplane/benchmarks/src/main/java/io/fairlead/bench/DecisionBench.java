package io.fairlead.bench;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ReceiptsConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
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
 * One request through the core: arrival with the pick, the index learning the prompt, and the end.
 * The warm prompts share a system prompt, so that every endpoint holds some of each, and were all
 * sent before; the cold ones share nothing, and differ from all before in their first block.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 4, time = 1)
@Fork(1)
public class DecisionBench implements RequestListener {

  private static final int PROMPTS = 32;
  private static final int SHARED_BLOCKS = 512;

  /** Endpoints in the pool. */
  @Param({"10", "1000", "10000"})
  public int endpoints;

  /** Prompt length; 16 tokens are one block. */
  @Param("32768")
  public int tokens;

  /** Whether the prompts were sent before. */
  @Param({"warm", "cold"})
  public String prompts = "";

  /** A shipped profile; {@code default} is {@code cost}. */
  @Param({"default", "weighted"})
  public String profile = "";

  /** One in so many requests gets a receipt, as a picker does; 0 for none. */
  @Param("1")
  public int receipts;

  private final PoolCore core =
      new PoolCore(new PoolLimits(4, 1 << 16, 1 << 20, 256 << 20, Long.MAX_VALUE, 32 << 20));
  private final RequestFacts[] requests = new RequestFacts[PROMPTS];
  private int next;
  private long now;
  private int effects;

  /** Fills the pool, and the index by sending each prompt often enough for every endpoint. */
  @Setup
  public void warm() {
    SplittableRandom random = new SplittableRandom(1);
    // Nobody waits for room while the index is filled.
    configure(false);
    List<EndpointSpec> specs =
        IntStream.range(0, endpoints)
            .mapToObj(i -> new EndpointSpec("e" + i, "1", "10.0.0.1", 8000, Map.of()))
            .toList();
    core.endpoints(0, specs);
    for (EndpointSpec spec : specs) {
      EndpointMetrics metrics =
          new EndpointMetrics(random.nextInt(3), 8, random.nextDouble() / 2, 16, 27_000);
      core.scraped(0, spec, 0, metrics);
    }
    long[] shared = random.longs(SHARED_BLOCKS).toArray();
    for (int i = 0; i < PROMPTS; i++) {
      long[] blocks = random.longs(tokens / 16).toArray();
      if (prompts.equals("warm")) {
        System.arraycopy(shared, 0, blocks, 0, SHARED_BLOCKS);
      }
      requests[i] = new RequestFacts("m", random.nextLong(), blocks, tokens, -1, tokens * 4L);
    }
    long[] open = new long[Math.min(endpoints * 4, 16_000)];
    for (int i = 0; i < open.length; i++) {
      open[i] = core.arrive(0, requests[i % PROMPTS], this);
    }
    for (long ticket : open) {
      core.firstByte(0, ticket);
      core.ended(0, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    }
    configure(true);
  }

  private void configure(boolean flowControl) {
    List<ProfileConfig> profiles =
        profile.equals("default") ? List.of() : List.of(new ProfileConfig(profile, List.of()));
    SchedulerConfig scheduler =
        new SchedulerConfig(
            List.of(), profiles, null, Map.of("flowControl", flowControl), null, null, List.of());
    ReceiptsConfig kept =
        receipts == 0 ? new ReceiptsConfig(0, 1) : new ReceiptsConfig(10_000, receipts);
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
                    List.of(new ModelConfig("m", Criticality.STANDARD, List.of())),
                    RequestsConfig.DEFAULT.withReceipts(kept),
                    scheduler)));
  }

  /** Arrival to end. */
  @Benchmark
  public int decide() {
    RequestFacts facts = requests[next++ % PROMPTS];
    if (prompts.equals("cold")) {
      facts.blocks()[0]++;
    }
    now += 1_000_000;
    long ticket = core.arrive(now, facts, this);
    core.firstByte(now, ticket);
    core.ended(now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    return effects;
  }

  @Override
  public void send(long request, Route route) {
    effects++;
  }

  @Override
  public void pass(long request) {}

  @Override
  public void reject(long request, Rejection rejection) {
    throw new IllegalStateException(rejection.toString());
  }
}
