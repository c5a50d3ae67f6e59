package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.external.Advice;
import io.fairlead.core.external.RequestBrief;
import io.fairlead.core.handover.Knowledge;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A picker that begins with what another knows decides as that one does. */
class HandOverTest {

  private static final long MILLISECOND = 1_000_000;
  private static final long PLENTY = 1 << 26;
  private static final String[] NAMES = {"a", "b", "c", "d"};

  /** Keeps what it is told as a receiver does, and takes it in the order of use. */
  private static final class Told implements Knowledge {

    private final List<Runnable> first = new ArrayList<>();
    private final List<Runnable> prompts = new ArrayList<>();
    private final Map<Integer, long[]> parts = new HashMap<>();
    private final TakeOver to;
    private final long now;
    private String endpoint = "";
    private boolean taken;
    private int pieces;

    Told(TakeOver to, long now) {
      this.to = to;
      this.now = now;
    }

    void take() {
      first.forEach(Runnable::run);
      prompts.reversed().forEach(Runnable::run);
    }

    @Override
    public void tokens(String model, double[] learned) {
      first.add(() -> to.tokens(model, learned));
    }

    @Override
    public void learned(int plugin, String key, double[] values) {
      first.add(() -> to.learned(plugin, key, values));
    }

    @Override
    public void endpoint(EndpointSpec spec, double startedAt, int blocks) {
      endpoint = spec.name();
      taken = to.endpoint(spec, startedAt, blocks);
    }

    @Override
    public void idle(long nanos) {
      if (taken) {
        String of = endpoint;
        first.add(() -> to.idle(now, of, nanos));
      }
    }

    @Override
    public void speeds(int plugin, double[] values) {
      if (taken) {
        String of = endpoint;
        first.add(() -> to.speeds(now, of, plugin, values));
      }
    }

    @Override
    public void part(int part, int before, long[] blocks) {
      long[] whole = before < 0 ? new long[0] : Objects.requireNonNull(parts.get(before));
      int depth = whole.length;
      whole = Arrays.copyOf(whole, depth + blocks.length);
      System.arraycopy(blocks, 0, whole, depth, blocks.length);
      assertThat(parts.put(part, whole)).as("told once a piece").isNull();
      lengths.put(part, blocks.length);
    }

    private final Map<Integer, Integer> lengths = new HashMap<>();

    @Override
    public void held(int part, int blocks) {
      long[] whole = Objects.requireNonNull(parts.get(part));
      int count = whole.length - Objects.requireNonNull(lengths.get(part)) + blocks;
      if (taken) {
        String of = endpoint;
        prompts.add(() -> to.held(of, whole, count));
      }
    }

    @Override
    public void cut() {
      parts.clear();
      lengths.clear();
      pieces++;
    }
  }

  private static long[] prompt(SplittableRandom random) {
    long[] blocks = new long[random.nextInt(60)];
    long chain = random.nextInt(5);
    for (int i = 0; i < blocks.length; i++) {
      chain = chain * 31 + 7 + (random.nextInt(12) == 0 ? random.nextInt(3) : 0);
      blocks[i] = chain;
    }
    return blocks;
  }

  private static EndpointMetrics scrape(double startedAt) {
    return new EndpointMetrics(
        0, 1, 0.5, 16, 700, "", -1, List.of(), List.of(), Map.of(), startedAt, 1);
  }

  private static Pool teacher(SplittableRandom random, int requests) {
    Pool pool = new Pool().configure().endpoints(NAMES);
    for (int i = 0; i < NAMES.length; i++) {
      pool.core.scraped(0, Pool.endpoint(NAMES[i]), 0, scrape(100 + i));
    }
    for (int i = 0; i < requests; i++) {
      pool.now += random.nextLong(5 * MILLISECOND);
      long[] blocks = prompt(random);
      long ticket = pool.arrive("m" + random.nextInt(2), blocks);
      pool.now += (20 + random.nextInt(40)) * MILLISECOND;
      pool.core.firstByte(pool.now, ticket);
      pool.now += (500 + random.nextInt(400)) * MILLISECOND;
      pool.core.ended(
          pool.now,
          ticket,
          Outcome.COMPLETED,
          new Usage(blocks.length * 20, 20 + random.nextInt(60), -1));
    }
    return pool;
  }

  private static Told handOver(Pool from, Pool to, long mostBytes) {
    Told told = new Told(to.core.takeOver(), to.now);
    HandOver handOver = from.core.handOver(mostBytes, told);
    while (handOver.next(from.now)) {
      assertThat(told.pieces).isLessThan(100_000);
    }
    told.take();
    return told;
  }

  private static Pool newcomer(Pool like) {
    Pool pool = new Pool().configure();
    // Another process has another clock.
    pool.now = like.now / 3;
    return pool.endpoints(NAMES);
  }

  private static RequestBrief brief(Pool pool, String model, long[] blocks) {
    return Objects.requireNonNull(pool.core.brief(pool.now, Pool.request(model, 1, blocks)));
  }

  /** Who holds what of a prompt, as the pool tells a scheduler outside. */
  private static Map<Long, Integer> holders(Pool pool, String model, long[] blocks) {
    RequestBrief brief = brief(pool, model, blocks);
    Map<Long, Integer> holders = new HashMap<>();
    for (int i = 0; i < brief.holders().length; i++) {
      holders.put(brief.holders()[i], brief.cachedTokens()[i]);
    }
    return holders;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void knowsWhoHoldsWhat(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Pool teacher = teacher(random, 300);
    Pool newcomer = newcomer(teacher);
    handOver(teacher, newcomer, PLENTY);
    int known = 0;
    for (int i = 0; i < 2_000; i++) {
      long[] blocks = prompt(random);
      String model = "m" + random.nextInt(2);
      Map<Long, Integer> holders = holders(teacher, model, blocks);
      assertThat(holders(newcomer, model, blocks)).isEqualTo(holders);
      known += holders.isEmpty() ? 0 : 1;
    }
    assertThat(known).isGreaterThan(200);
    for (int i = 0; i < 50; i++) {
      long[] blocks = prompt(random);
      assertThat(brief(newcomer, "m0", blocks).promptTokens())
          .isEqualTo(brief(teacher, "m0", blocks).promptTokens());
    }
  }

  /** Of what the caches hold of its first prompts it finds as much as the other. */
  @Test
  void findsCachesWithItsFirstPicks() {
    SplittableRandom random = new SplittableRandom(11);
    Pool teacher = teacher(random, 400);
    teacher.now += 1_000 * MILLISECOND;
    Pool newcomer = newcomer(teacher);
    Pool cold = newcomer(teacher);
    handOver(teacher, newcomer, PLENTY);
    long there = 0;
    long warm = 0;
    long chance = 0;
    for (int i = 0; i < 300; i++) {
      long[] blocks = prompt(random);
      Map<Long, Integer> holders = holders(teacher, "m0", blocks);
      there += holders.getOrDefault(pick(teacher, blocks, i), 0);
      warm += holders.getOrDefault(pick(newcomer, blocks, i), 0);
      chance += holders.getOrDefault(pick(cold, blocks, i), 0);
    }
    assertThat(warm).isGreaterThan(there * 95 / 100);
    assertThat(chance).as("without it").isLessThan(there * 90 / 100);
  }

  private static long pick(Pool pool, long[] blocks, long seed) {
    long ticket = pool.core.arrive(pool.now, Pool.request("m0", seed, blocks), pool);
    long endpoint = Advice.identity(pool.lastRoute().endpoint());
    // As if it had never been: nothing is learned of it.
    pool.core.ended(pool.now, ticket, Outcome.DISCONNECTED, Usage.UNKNOWN);
    return endpoint;
  }

  /** A plugin that is shown the endpoints. */
  private static final class Witness implements PluginFactory, Observer {

    private final Map<String, PoolEndpoint> endpoints = new HashMap<>();

    @Override
    public String type() {
      return "witness";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return this;
    }

    @Override
    public void joined(Endpoint endpoint) {
      endpoints.put(endpoint.name(), (PoolEndpoint) endpoint);
    }

    long idleSince(String name) {
      return Objects.requireNonNull(endpoints.get(name)).idleSince();
    }
  }

  /** What nobody has asked for lately is no loss: that is to be known of all of them. */
  @Test
  void knowsForHowLongEndpointsHaveHadNoRequest() {
    Pool teacher = new Pool().configure().endpoints("a", "b", "c");
    teacher.now = 10_000 * MILLISECOND;
    long first = teacher.arrive("m", 1, 2);
    String served = teacher.lastRoute().endpoint();
    teacher.arrive("m", 7, 8);
    String serving = teacher.lastRoute().endpoint();
    assertThat(serving).isNotEqualTo(served);
    teacher.core.ended(teacher.now, first, Outcome.COMPLETED, Usage.UNKNOWN);
    teacher.now += 3_000 * MILLISECOND;
    Witness witness = new Witness();
    Pool newcomer = new Pool();
    newcomer.now = 5_000 * MILLISECOND;
    newcomer.core.configure(
        newcomer.now,
        new ConfigCompiler(List.of(witness))
            .compile(
                Pool.config(
                    Pool.atOnce(List.of(new PluginConfig("w", "witness", Map.of())), List.of()))));
    newcomer.endpoints("a", "b", "c");
    handOver(teacher, newcomer, PLENTY);

    assertThat(witness.idleSince(served)).isEqualTo(2_000 * MILLISECOND);
    assertThat(witness.idleSince(serving)).isEqualTo(5_000 * MILLISECOND);
    assertThat(witness.endpoints.keySet())
        .filteredOn(name -> !name.equals(served) && !name.equals(serving))
        .singleElement()
        .satisfies(name -> assertThat(witness.idleSince(name)).isEqualTo(Long.MIN_VALUE));
  }

  @Test
  void takesNothingOfAProcessThatIsAnother() {
    Pool teacher = teacher(new SplittableRandom(3), 300);
    Pool newcomer = new Pool().configure();
    newcomer.core.endpoints(
        0,
        List.of(
            Pool.endpoint("a"),
            Pool.endpoint("b", "2"), // the pod was made anew
            Pool.endpoint("c"),
            Pool.endpoint("d")));
    // The engine was started again, which this picker has heard of.
    newcomer.core.scraped(0, Pool.endpoint("c"), 0, scrape(500));
    handOver(teacher, newcomer, PLENTY);
    assertThat(held(newcomer)).containsExactlyInAnyOrder("a", "d");

    // It was started again, and this picker hears of it only now.
    newcomer.core.scraped(1, Pool.endpoint("d"), 1, scrape(900));
    assertThat(held(newcomer)).containsExactly("a");
    newcomer.core.scraped(1, Pool.endpoint("a"), 1, scrape(100));
    assertThat(held(newcomer)).containsExactly("a");
  }

  private static List<String> held(Pool pool) {
    List<String> held = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(99);
    for (int i = 0; i < 500; i++) {
      Map<Long, Integer> holders = holders(pool, "m0", prompt(random));
      for (String name : NAMES) {
        long identity = Advice.identity(name);
        if (holders.containsKey(identity) && !held.contains(name)) {
          held.add(name);
        }
      }
    }
    return held;
  }

  /** Within its bytes the newest are told; what was used longest ago is left out. */
  @Test
  void leavesTheOldestOutWhereThereIsNoRoom() {
    Pool teacher = new Pool().configure().endpoints("a");
    for (int i = 0; i < 100; i++) {
      teacher.serve("m", chain(1_000 + i));
    }
    Pool newcomer = new Pool().configure().endpoints("a");
    handOver(teacher, newcomer, 20 * 21 * Long.BYTES);
    int first = -1;
    for (int i = 0; i < 100; i++) {
      boolean known = !holders(newcomer, "m", chain(1_000 + i)).isEmpty();
      if (known && first < 0) {
        first = i;
      }
      assertThat(known).as("prompt %d", i).isEqualTo(first >= 0);
    }
    assertThat(first).isBetween(70, 85);
  }

  private static long[] chain(long from) {
    long[] blocks = new long[20];
    blocks[0] = from;
    for (int k = 1; k < blocks.length; k++) {
      blocks[k] = blocks[k - 1] * 31 + 7;
    }
    return blocks;
  }

  /** Requests go on between two pieces: what is told is never wrong, and the telling ends. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void goesOnWhileRequestsCome(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Pool teacher = teacher(random, 2_000);
    Pool newcomer = newcomer(teacher);
    Told told = new Told(newcomer.core.takeOver(), newcomer.now);
    HandOver handOver = teacher.core.handOver(PLENTY, told);
    int pieces = 0;
    while (handOver.next(teacher.now)) {
      teacher.serve("m0", prompt(random));
      if (random.nextInt(20) == 0) {
        teacher.core.endpoints(teacher.now, List.of(Pool.endpoint("a"), Pool.endpoint("b")));
        teacher.endpoints(NAMES);
      }
      pieces++;
    }
    told.take();
    assertThat(pieces).isBetween(4, 10_000);
    handOver.stop();
    for (int i = 0; i < 200; i++) {
      newcomer.serve("m0", prompt(random));
    }
  }
}
