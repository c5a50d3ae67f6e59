package io.fairlead.bench;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.PromptSize;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestHeaders;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.Subset;
import io.fairlead.core.Timeouts;
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
 * sent before; the cold ones share nothing, and differ from all before in their first block. The
 * hard ones are cold, of a sheddable LoRA adapter that one endpoint in eight has loaded, and may go
 * to every second endpoint alone, while each has requests under way and a cache that is two thirds
 * full: with more a sheddable request of this size would be refused.
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

  /** Of the hard case: at each endpoint, and blocks of their prompts. */
  private static final int UNDER_WAY = 3;

  private static final int SHORT = 16;
  private static final String ADAPTER = "adapter-0";
  private static final int ADAPTERS = 8;

  /** Endpoints in the pool. */
  @Param({"10", "1000", "10000"})
  public int endpoints;

  /** Prompt length; 16 tokens are one block. */
  @Param("32768")
  public int tokens;

  /** Whether the prompts were sent before; hard ones were not. */
  @Param({"warm", "cold", "hard"})
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
            .mapToObj(i -> new EndpointSpec("e" + i, "1", address(i), 8000, Map.of()))
            .toList();
    core.endpoints(0, specs);
    boolean hard = prompts.equals("hard");
    for (EndpointSpec spec : specs) {
      core.scraped(0, spec, 0, hard ? busy(random) : quiet(random));
    }
    long[] shared = random.longs(SHARED_BLOCKS).toArray();
    for (int i = 0; i < PROMPTS; i++) {
      long[] blocks = random.longs(tokens / 16).toArray();
      if (prompts.equals("warm")) {
        System.arraycopy(shared, 0, blocks, 0, SHARED_BLOCKS);
      }
      requests[i] =
          hard
              ? hard(random.nextLong(), blocks)
              : new RequestFacts("m", random.nextLong(), blocks, tokens, -1, tokens * 4L);
    }
    // Caches that are two thirds full have no room for as many.
    long[] open = new long[hard ? 0 : Math.min(endpoints * 4, 16_000)];
    for (int i = 0; i < open.length; i++) {
      open[i] = core.arrive(0, requests[i % PROMPTS], this);
    }
    for (long ticket : open) {
      core.firstByte(0, ticket);
      core.ended(0, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    }
    for (int i = 0; hard && i < endpoints * UNDER_WAY; i++) {
      long[] blocks = random.longs(SHORT).toArray();
      RequestFacts facts =
          new RequestFacts("m", random.nextLong(), blocks, SHORT * 16, -1, SHORT * 64L);
      core.firstByte(0, core.arrive(0, facts, this));
    }
    configure(true);
  }

  private static String address(int endpoint) {
    return "10.0." + (endpoint >> 8) + "." + (endpoint & 0xff);
  }

  private static EndpointMetrics quiet(SplittableRandom random) {
    return new EndpointMetrics(random.nextInt(3), 8, random.nextDouble() / 2, 16, 27_000);
  }

  private static EndpointMetrics busy(SplittableRandom random) {
    List<String> running = List.of("adapter-" + random.nextInt(ADAPTERS));
    double usage = 0.6 + random.nextDouble() / 10;
    return new EndpointMetrics(
        0, 8, usage, 16, 27_000, "m", ADAPTERS, running, List.of(), Map.of());
  }

  private RequestFacts hard(long seed, long[] blocks) {
    List<String> allowed =
        IntStream.range(0, endpoints / 2).mapToObj(i -> address(2 * i) + ":8000").toList();
    return new RequestFacts(
        "",
        ADAPTER,
        seed,
        blocks,
        PromptSize.ofTokens(tokens),
        -1,
        tokens * 4L,
        RequestFacts.Delivery.STREAMED,
        Timeouts.UNSET,
        RequestHeaders.NONE,
        new Subset(allowed));
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
                    List.of(
                        new ModelConfig("m", Criticality.STANDARD, List.of()),
                        new ModelConfig(ADAPTER, Criticality.SHEDDABLE, List.of())),
                    RequestsConfig.DEFAULT.withReceipts(kept),
                    scheduler)));
  }

  /** Arrival to end. */
  @Benchmark
  public int decide() {
    RequestFacts facts = requests[next++ % PROMPTS];
    if (!prompts.equals("warm")) {
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
