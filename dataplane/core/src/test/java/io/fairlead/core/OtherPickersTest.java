package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.external.EndpointLoad;
import io.fairlead.core.handover.News;
import io.fairlead.core.handover.SentRequest;
import io.fairlead.core.handover.SentRequests;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.core.view.PoolCandidates;
import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What others have told of counts where it is, until it is over, whatever happens in between. */
class OtherPickersTest {

  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;
  private static final String[] NAMES = {"a", "b", "c"};

  static Stream<Long> seeds() {
    return IntStream.range(0, 40).mapToObj(Long::valueOf);
  }

  /** A plugin's view of the endpoints of a picker. */
  private static final class Witness implements PluginFactory, Observer, Scorer {

    static final String TYPE = "witness";

    private final Map<String, Endpoint> endpoints = new HashMap<>();
    private double timesKnown;
    private double goesOn;

    @Override
    public void score(InferenceRequest request, Candidates candidates, double[] scores) {
      timesKnown = PoolCandidates.of(candidates).timesKnown();
      goesOn = PoolCandidates.of(candidates).goesOn();
    }

    @Override
    public String type() {
      return TYPE;
    }

    @Override
    public Plugin create(Parameters parameters) {
      return this;
    }

    @Override
    public void joined(Endpoint endpoint) {
      endpoints.put(endpoint.name(), endpoint);
    }

    Endpoint of(String name) {
      return Objects.requireNonNull(endpoints.get(name));
    }
  }

  private static EndpointMetrics page(int waiting, int running) {
    return new EndpointMetrics(
        waiting, running, 0.1, 16, 100_000, "", -1, List.of(), List.of(), Map.of(), 1, Double.NaN);
  }

  /** Where one tells another, and what is on its way there. */
  private static final class Way {

    private final Picker from;
    private final Picker to;
    private final Follower follower;
    private final Deque<News> late = new ArrayDeque<>();

    Way(Picker from, Picker to) {
      this.from = from;
      this.to = to;
      follower = from.core.follow();
      to.core.tells(from.number);
    }

    void write(long now) {
      late.add(follower.take(now));
    }

    void read(long now) {
      News news = late.poll();
      if (news != null) {
        to.core.heard(now, from.number, news);
      }
    }

    /** What is on its way is lost. */
    void breaks(long now) {
      from.core.leave(follower);
      to.core.silent(now, from.number);
    }
  }

  private static final class Picker {

    private final long number;
    private final Pool pool = new Pool();
    private final PoolCore core = pool.core;
    private final Witness witness = new Witness();
    private final List<Long> tickets = new ArrayList<>();

    Picker(long number, long now, boolean pairs, String... endpoints) {
      this.number = number;
      pool.now = now;
      List<PluginConfig> plugins =
          new ArrayList<>(List.of(new PluginConfig("w", Witness.TYPE, Map.of())));
      List<ProfileConfig> profiles = List.of();
      if (pairs) {
        plugins.add(
            new PluginConfig(
                "h", "disagg-profile-handler", Map.of("deciders", Map.of("prefill", "d"))));
        plugins.add(
            new PluginConfig("d", "prefix-based-pd-decider", Map.of("nonCachedTokens", 64L)));
        profiles =
            List.of(
                new ProfileConfig("decode", List.of()), new ProfileConfig("prefill", List.of()));
      }
      core.configure(
          now,
          new ConfigCompiler(List.of(witness))
              .compile(Pool.config(Pool.atOnce(plugins, profiles))));
      core.endpoints(now, Stream.of(endpoints).map(OtherPickersTest::first).toList());
    }

    /** With one endpoint. */
    Picker() {
      this(OTHER, 0, false, "a");
    }

    Endpoint endpoint() {
      return witness.of("a");
    }

    /** What a scorer is told of a request that comes now. */
    double timesKnown() {
      pool.arrive("m", 1, 2, 3);
      return witness.timesKnown;
    }

    int own(String name) {
      return pool.snapshot(name).inFlight();
    }
  }

  /** Where servers work in pairs, the last one computes prompts. */
  private static EndpointSpec endpoint(String name, String incarnation) {
    String role = name.equals("c") ? "prefill" : "decode";
    return new EndpointSpec(name, incarnation, "10.0.0.1", 8000, Map.of("llm-d.ai/role", role));
  }

  private static EndpointSpec first(String name) {
    return endpoint(name, "1");
  }

  /** Three pickers, their requests, and the ways between them. */
  private static final class World {

    private final SplittableRandom random;
    private final List<Picker> pickers = new ArrayList<>();
    private final List<Way> ways = new ArrayList<>();
    private long now = SECOND;
    private final boolean pairs;
    private long number;

    World(long seed) {
      random = new SplittableRandom(seed);
      pairs = seed % 2 == 1;
      for (int i = 0; i < 3; i++) {
        pickers.add(picker());
      }
      connect();
    }

    final Picker picker() {
      return new Picker(++number, now, pairs, NAMES);
    }

    /** What is on its way there is lost. */
    void breaks(Way way) {
      way.breaks(now);
      ways.remove(way);
    }

    /** Each counts what all have sent. */
    void allCountAll() {
      for (Picker picker : pickers) {
        for (String name : NAMES) {
          List<EndpointLoad> all =
              pickers.stream().map(one -> Objects.requireNonNull(one.core.load(name))).toList();
          Endpoint endpoint = picker.witness.of(name);
          assertThat(endpoint.inFlight())
              .as(name)
              .isEqualTo(all.stream().mapToInt(EndpointLoad::inFlight).sum());
          assertThat(endpoint.inFlightTokens())
              .as(name)
              .isEqualTo(all.stream().mapToLong(EndpointLoad::inFlightTokens).sum());
          assertThat(endpoint.uncachedInFlightTokens())
              .as(name)
              .isEqualTo(all.stream().mapToLong(EndpointLoad::uncachedInFlightTokens).sum());
        }
      }
    }

    /** Whoever does not tell another tells it from now on. */
    void connect() {
      for (Picker from : pickers) {
        for (Picker to : pickers) {
          if (from != to && ways.stream().noneMatch(way -> way.from == from && way.to == to)) {
            ways.add(new Way(from, to));
          }
        }
      }
    }

    void passes(long nanos) {
      now += nanos;
      pickers.forEach(picker -> picker.pool.now = now);
    }

    Picker any() {
      return pickers.get(random.nextInt(pickers.size()));
    }

    void something() {
      Picker at = any();
      PoolCore core = at.core;
      int what = random.nextInt(10);
      if (what < 4 || at.tickets.isEmpty()) {
        // Some begin alike, some go on with others, some are too short to be found again.
        int conversation = random.nextInt(8);
        long[] prompt = new SplittableRandom(conversation).longs(random.nextInt(40)).toArray();
        at.tickets.add(
            core.arrive(
                now,
                new RequestFacts(
                    "",
                    "m" + conversation % 2,
                    random.nextLong(),
                    prompt,
                    new PromptSize(64L * prompt.length, 0),
                    random.nextInt(-1, 100),
                    1 + random.nextInt(3),
                    400,
                    new RequestFacts.Delivery(random.nextBoolean(), true),
                    Timeouts.UNSET,
                    RequestHeaders.NONE,
                    null,
                    null),
                at.pool));
        return;
      }
      long ticket = at.tickets.get(random.nextInt(at.tickets.size()));
      switch (what) {
        case 4, 5 -> core.firstByte(now, ticket);
        case 6 -> core.attemptFailed(now, ticket, Failure.REFUSED);
        case 7 -> core.left(now, ticket, LeftListener.NONE);
        default -> {
          Outcome[] outcomes = Outcome.values();
          core.ended(now, ticket, outcomes[random.nextInt(outcomes.length)], Usage.UNKNOWN);
          at.tickets.remove(ticket);
        }
      }
    }

    void tick() {
      pickers.forEach(picker -> picker.core.tick(now));
    }

    void tellAll() {
      ways.forEach(way -> way.write(now));
      while (ways.stream().anyMatch(way -> !way.late.isEmpty())) {
        ways.forEach(way -> way.read(now));
      }
    }

    void endAll() {
      for (Picker picker : pickers) {
        for (long ticket : picker.tickets) {
          picker.core.ended(now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
        }
        picker.tickets.clear();
      }
    }

    /** Never less than what was sent from there. */
    void check() {
      for (Picker picker : pickers) {
        for (Endpoint endpoint : picker.witness.endpoints.values()) {
          assertThat(endpoint.inFlight()).isNotNegative();
          assertThat(endpoint.awaitingFirstToken()).isBetween(0, endpoint.inFlight());
          assertThat(endpoint.sequences()).isGreaterThanOrEqualTo(endpoint.inFlight());
          assertThat(endpoint.decodingSequences()).isBetween(0, endpoint.sequences());
          assertThat(endpoint.prefills().count()).isBetween(0, endpoint.awaitingFirstToken());
          assertThat(endpoint.inFlightTokens()).isNotNegative();
          assertThat(endpoint.uncachedInFlightTokens()).isBetween(0L, endpoint.inFlightTokens());
          assertThat(endpoint.repeatedInFlightTokens()).isBetween(0L, endpoint.inFlightTokens());
          assertThat(((PoolEndpoint) endpoint).restingTokens()).isNotNegative();
        }
        picker.core.loads(
            0, load -> assertThat(load.awaitingFirstToken()).isBetween(0, load.inFlight()));
        for (EndpointSnapshot snapshot : picker.core.snapshot()) {
          assertThat(snapshot.inFlight()).isNotNegative();
          assertThat(snapshot.awaitingFirstToken()).isBetween(0, snapshot.inFlight());
        }
      }
    }

    void nothingIsLeft() {
      for (Picker picker : pickers) {
        assertThat(picker.core.active()).isZero();
        for (Endpoint endpoint : picker.witness.endpoints.values()) {
          assertThat(endpoint.inFlight()).as(endpoint.name()).isZero();
          assertThat(endpoint.awaitingFirstToken()).isZero();
          assertThat(endpoint.sequences()).isZero();
          assertThat(endpoint.prefills().count()).isZero();
          assertThat(endpoint.inFlightTokens()).isZero();
          assertThat(endpoint.uncachedInFlightTokens()).isZero();
          assertThat(endpoint.repeatedInFlightTokens()).isZero();
        }
        assertThat(picker.core.snapshot()).noneMatch(EndpointSnapshot::leaving);
      }
    }
  }

  /** Once all is told, each counts what all have sent. */
  @ParameterizedTest
  @MethodSource("seeds")
  void eachCountsWhatAllHaveSent(long seed) {
    World world = new World(seed);
    for (int i = 0; i < 400; i++) {
      world.passes(world.random.nextLong(50 * MILLI));
      world.something();
      if (world.random.nextInt(4) == 0) {
        Way way = world.ways.get(world.random.nextInt(world.ways.size()));
        way.write(world.now);
      }
      if (world.random.nextInt(4) == 0) {
        world.ways.get(world.random.nextInt(world.ways.size())).read(world.now);
      }
      world.check();
      if (i % 50 == 0) {
        world.tellAll();
        world.allCountAll();
      }
    }
    world.endAll();
    world.tellAll();
    world.nothingIsLeft();
  }

  /** The same after ways have broken, once all tell one another again. */
  @ParameterizedTest
  @MethodSource("seeds")
  void eachCountsWhatAllHaveSentOnceWaysAreThereAgain(long seed) {
    World world = new World(seed);
    SplittableRandom random = world.random;
    for (int i = 0; i < 400; i++) {
      world.passes(random.nextLong(50 * MILLI));
      world.something();
      if (!world.ways.isEmpty()) {
        Way way = world.ways.get(random.nextInt(world.ways.size()));
        switch (random.nextInt(12)) {
          case 0, 1, 2 -> way.write(world.now);
          case 3, 4, 5 -> way.read(world.now);
          case 6 -> world.breaks(way);
          default -> {}
        }
      }
      switch (random.nextInt(12)) {
        case 0 -> world.tick();
        case 1 -> world.connect();
        case 2 -> world.any().core.tick(world.now);
        default -> {}
      }
      world.check();
      if (i % 50 == 0) {
        world.connect();
        world.tellAll();
        world.allCountAll();
      }
    }
    world.endAll();
    world.connect();
    world.tellAll();
    world.nothingIsLeft();
  }

  /** Ways break, pickers are replaced, endpoints come and go: in the end nothing is left. */
  @ParameterizedTest
  @MethodSource("seeds")
  void nothingIsLeftWhenAllIsOver(long seed) {
    World world = new World(seed);
    SplittableRandom random = world.random;
    for (int i = 0; i < 600; i++) {
      world.passes(random.nextLong(100 * MILLI));
      world.something();
      if (world.ways.isEmpty()) {
        world.connect();
      }
      Way way = world.ways.get(random.nextInt(world.ways.size()));
      switch (random.nextInt(40)) {
        case 0, 1, 2, 3, 4, 5, 6, 7 -> way.write(world.now);
        case 8, 9, 10, 11, 12, 13, 14 -> way.read(world.now);
        case 15, 16 -> world.tick();
        case 17 -> world.breaks(way);
        case 18, 19 -> world.connect();
        case 20 -> replace(world, world.any());
        case 21 ->
            world
                .any()
                .core
                .endpoints(
                    world.now,
                    IntStream.range(0, 1 + random.nextInt(NAMES.length))
                        .mapToObj(n -> endpoint(NAMES[n], "" + random.nextInt(2)))
                        .toList());
        case 22, 23 ->
            world
                .any()
                .core
                .scraped(
                    world.now,
                    endpoint(NAMES[random.nextInt(NAMES.length)], "1"),
                    world.now - MILLI,
                    page(random.nextInt(2), random.nextInt(8)));
        default -> {}
      }
      world.check();
    }
    world.endAll();
    world.tellAll();
    for (int i = 0; i < 60; i++) {
      world.passes(10 * SECOND);
      world.tick();
    }
    world.nothingIsLeft();
  }

  /** Its process ends with all its requests, and another begins. */
  private static void replace(World world, Picker gone) {
    List<Way> broken =
        world.ways.stream().filter(way -> way.from == gone || way.to == gone).toList();
    broken.forEach(way -> way.breaks(world.now));
    world.ways.removeAll(broken);
    world.pickers.set(world.pickers.indexOf(gone), world.picker());
    world.connect();
  }

  private static final long OTHER = 77;
  private static final long THIRD = 78;

  /** What one has in flight when it is asked counts from the first word on. */
  @Test
  void whatIsInFlightAtTheBeginningCounts() {
    Picker teller = new Picker();
    teller.pool.arrive("m", 1, 2, 3);
    Follower follower = teller.core.follow();
    Picker hearer = new Picker();
    hearer.core.tells(OTHER);
    hearer.core.heard(0, OTHER, follower.take(0));
    assertThat(hearer.endpoint().inFlight()).isEqualTo(1);
    assertThat(hearer.own("a")).isZero();
    assertThat(hearer.endpoint().inFlightTokens()).isEqualTo(teller.endpoint().inFlightTokens());
  }

  /** A scorer need not guess what is told. */
  @Test
  void whoTellsIsNoneOfThoseWhoseRequestsAreUnknown() {
    Picker picker = new Picker();
    picker.core.replicas(3);
    assertThat(picker.timesKnown()).isEqualTo(3);
    picker.core.tells(OTHER);
    assertThat(picker.timesKnown()).as("two of three are known").isEqualTo(1.5);
    picker.core.tells(THIRD);
    assertThat(picker.timesKnown()).isEqualTo(1);
    picker.core.silent(0, OTHER);
    assertThat(picker.timesKnown()).isEqualTo(1.5);
  }

  /** The same request told twice is one. */
  @Test
  void whatIsToldTwiceCountsOnce() {
    Picker teller = new Picker();
    Follower one = teller.core.follow();
    Follower same = teller.core.follow();
    long ticket = teller.pool.arrive("m", 1, 2, 3);
    Picker hearer = new Picker();
    hearer.core.tells(OTHER);
    hearer.core.heard(0, OTHER, one.take(0));
    hearer.core.heard(0, OTHER, same.take(0));
    assertThat(hearer.endpoint().inFlight()).isEqualTo(1);
    teller.core.ended(0, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    hearer.core.heard(0, OTHER, same.take(0));
    assertThat(hearer.endpoint().inFlight()).isZero();
  }

  /** Its process has died: its server tells of fewer requests than are counted there. */
  @Test
  void whatSilentOnesHadEndsAsTheServerSays() {
    Picker hearer = new Picker();
    hearer.core.tells(OTHER);
    Picker teller = new Picker();
    Follower follower = teller.core.follow();
    for (int i = 0; i < 5; i++) {
      teller.pool.arrive("m", i, 2, 3);
    }
    hearer.core.heard(0, OTHER, follower.take(0));
    hearer.core.scraped(SECOND, Pool.endpoint("a"), SECOND, page(0, 2));
    assertThat(hearer.endpoint().inFlight()).as("it tells of them").isEqualTo(5);
    hearer.core.silent(SECOND, OTHER);
    hearer.core.scraped(2 * SECOND, Pool.endpoint("a"), 2 * SECOND, page(0, 2));
    assertThat(hearer.endpoint().inFlight()).isEqualTo(2);
  }

  /** What was sent since is in no page: it is not to end what silent ones have in flight. */
  @Test
  void whatWasSentJustNowEndsNothingOfSilentOnes() {
    Picker hearer = new Picker();
    hearer.core.tells(OTHER);
    Picker teller = new Picker();
    Follower follower = teller.core.follow();
    for (int i = 0; i < 5; i++) {
      teller.pool.arrive("m", i, 2, 3);
    }
    hearer.core.heard(0, OTHER, follower.take(0));
    Picker third = new Picker();
    Follower ofThird = third.core.follow();
    hearer.core.tells(THIRD);
    hearer.core.silent(2 * SECOND, OTHER);
    hearer.pool.now = 3 * SECOND;
    third.pool.now = 3 * SECOND;
    hearer.pool.arrive("m", 6, 2, 3);
    third.pool.arrive("m", 7, 2, 3);
    hearer.core.heard(3 * SECOND, THIRD, ofThird.take(3 * SECOND));
    hearer.core.scraped(3 * SECOND, Pool.endpoint("a"), 3 * SECOND, page(0, 5));
    assertThat(hearer.endpoint().inFlight()).as("as many as it tells, and two more").isEqualTo(7);
    hearer.core.scraped(5 * SECOND, Pool.endpoint("a"), 5 * SECOND, page(0, 6));
    assertThat(hearer.endpoint().inFlight()).as("by now it would tell of all").isEqualTo(6);
  }

  /** Where the server tells nothing, by an estimate. */
  @Test
  void whatSilentOnesHadAgesOut() {
    Picker hearer = new Picker();
    hearer.core.tells(OTHER);
    Picker teller = new Picker();
    Follower follower = teller.core.follow();
    teller.pool.arrive("m", 1, 2, 3);
    hearer.core.heard(0, OTHER, follower.take(0));
    hearer.core.silent(SECOND, OTHER);
    hearer.core.tick(2 * SECOND);
    assertThat(hearer.endpoint().inFlight()).isEqualTo(1);
    hearer.core.tick(60 * SECOND);
    assertThat(hearer.endpoint().inFlight()).isZero();
  }

  /** A page that tells of a request as of somebody's, and its picker, are not two requests. */
  @Test
  void whatAPageHasToldIsNotCountedAgain() {
    Picker hearer = new Picker();
    hearer.core.tells(OTHER);
    Picker teller = new Picker();
    Follower follower = teller.core.follow();
    teller.core.scraped(0, Pool.endpoint("a"), 0, page(0, 0));
    teller.pool.arrive("m", 1, 2, 3);
    hearer.core.scraped(SECOND, Pool.endpoint("a"), SECOND, page(0, 1));
    Endpoint endpoint = hearer.endpoint();
    assertThat(endpoint.foreignInFlight()).isEqualTo(1);
    hearer.core.heard(2 * SECOND, OTHER, follower.take(2 * SECOND));
    assertThat(endpoint.foreignInFlight()).isZero();
    assertThat(endpoint.sequences()).isEqualTo(1);
  }

  /** Of prompts without blocks nothing is known to be shared: they don't make others' longer. */
  @Test
  void whatIsToldWithoutItsPromptSharesNothing() {
    Picker hearer = new Picker();
    hearer.core.tells(OTHER);
    hearer.pool.arrive("m", 1, 2, 3, 4);
    hearer.pool.arrive("m", 1, 2, 3, 4);
    Endpoint endpoint = hearer.endpoint();
    assertThat(endpoint.repeatedInFlightTokens()).isEqualTo(64);
    Picker teller = new Picker();
    teller.pool.arrive("m", LongStream.range(0, 500).toArray());
    hearer.core.heard(0, OTHER, teller.core.follow().take(0));
    assertThat(endpoint.inFlight()).isEqualTo(3);
    assertThat(endpoint.repeatedInFlightTokens()).isEqualTo(64);
  }

  /** A picker that begins is told of what others sent long before without its blocks. */
  @Test
  void whatIsToldWithoutItsPromptSharesWhatItsServerDoesNotTellOf() {
    Picker teller = new Picker();
    long[] prompt = LongStream.range(0, 1_000).toArray();
    long first = teller.pool.arrive("m", prompt);
    teller.core.firstByte(0, first);
    for (int i = 1; i < 40; i++) {
      teller.core.firstByte(0, teller.pool.arrive("m", prompt));
    }
    Picker hearer = new Picker();
    hearer.core.tells(OTHER);
    Follower follower = teller.core.follow();
    hearer.core.heard(0, OTHER, follower.take(0));
    Endpoint endpoint = hearer.endpoint();
    assertThat(endpoint.inFlightTokens()).isEqualTo(40 * 16_000);
    hearer.core.scraped(SECOND, Pool.endpoint("a"), SECOND, page(0, 40));
    assertThat(endpoint.repeatedInFlightTokens())
        .as("a tenth of 100,000 blocks is in use")
        .isEqualTo(40 * 16_000 - 160_000);

    hearer.pool.arrive("m", LongStream.range(2_000, 4_000).toArray());
    hearer.core.scraped(2 * SECOND, Pool.endpoint("a"), 2 * SECOND, page(0, 40));
    assertThat(endpoint.repeatedInFlightTokens())
        .as("what is in line takes up nothing yet")
        .isEqualTo(40 * 16_000 - 160_000);

    teller.core.ended(3 * SECOND, first, Outcome.COMPLETED, Usage.UNKNOWN);
    hearer.core.heard(3 * SECOND, OTHER, follower.take(3 * SECOND));
    assertThat(endpoint.inFlightTokens()).isEqualTo(39 * 16_000 + 32_000);
    assertThat(endpoint.repeatedInFlightTokens()).isEqualTo(39 * 12_000);
  }

  /** An agent's turns follow one another faster than pickers tell. */
  @Test
  void whatGoesOnWithWhatEndedJustBeforeIsToldSo() {
    Picker teller = new Picker();
    Follower follower = teller.core.follow();
    Picker hearer = new Picker();
    hearer.core.tells(OTHER);
    long first = teller.pool.arrive("m", 1, 2);
    hearer.core.heard(0, OTHER, follower.take(0));

    teller.core.firstByte(100 * MILLI, first);
    teller.core.ended(200 * MILLI, first, Outcome.COMPLETED, new Usage(32, 5, 0));
    teller.pool.now = 400 * MILLI;
    teller.pool.arrive("m", 1, 2, 3);
    hearer.core.heard(500 * MILLI, OTHER, follower.take(500 * MILLI));
    assertThat(((PoolEndpoint) hearer.endpoint()).restingTokens()).isZero();
    hearer.pool.arrive("m", 7);
    assertThat(hearer.witness.goesOn).isPositive();
  }

  /** The same of two that are told as a whole, the second at an endpoint that was told of first. */
  @Test
  void whatGoesOnElsewhereWithWhatEndedJustBeforeIsToldSo() {
    Picker hearer = new Picker(OTHER, 0, false, "a", "b");
    hearer.core.tells(OTHER);
    SentRequest second = sent(2, 100 * MILLI, null, 1, 2, 3);
    SentRequest first = sent(1, 400 * MILLI, new News.End(200 * MILLI, 5), 1, 2);
    News news =
        new News(
            false,
            List.of(
                new SentRequests(first("a"), Double.NaN, List.of(second)),
                new SentRequests(first("b"), Double.NaN, List.of(first))),
            List.of(),
            List.of());
    hearer.core.heard(500 * MILLI, OTHER, news);
    assertThat(((PoolEndpoint) hearer.witness.of("b")).restingTokens()).isZero();
    assertThat(((PoolEndpoint) hearer.witness.of("b")).idleSince()).isEqualTo(300 * MILLI);
    hearer.pool.arrive("m", 7);
    assertThat(hearer.witness.goesOn).isPositive();
  }

  private static SentRequest sent(long number, long age, News.@Nullable End end, long... blocks) {
    return new SentRequest(
        number,
        age,
        new SentRequest.Load(16 * blocks.length, 0, 1, false, false, true),
        end != null,
        end,
        new SentRequest.Prompt(0, blocks, blocks.length));
  }

  /** That the prompt before it is computed is told late: nobody is first in line before it came. */
  @Test
  void whoIsNextInLineHasWaitedNoLongerThanItIsThere() {
    Picker teller = new Picker();
    Follower follower = teller.core.follow();
    long[] prompt = LongStream.range(0, 5_000).toArray();
    long ticket = teller.pool.arrive("m", prompt);
    Picker hearer = new Picker();
    hearer.core.tells(OTHER);
    hearer.core.heard(0, OTHER, follower.take(0));
    teller.core.firstByte(100 * MILLI, ticket);
    hearer.pool.now = 400 * MILLI;
    hearer.pool.arrive("m", 1, 2, 3);
    hearer.core.heard(500 * MILLI, OTHER, follower.take(500 * MILLI));
    assertThat(hearer.endpoint().prefills().count()).isEqualTo(1);
    assertThat(hearer.endpoint().prefills().headSince()).isEqualTo(400 * MILLI);
  }

  /** The one at which there is too much to tell is no exception. */
  @Test
  void whoIsToldAnewIsToldOfAllThatIsComputed() {
    Picker teller = new Picker();
    Follower follower = teller.core.follow();
    List<Long> tickets = new ArrayList<>();
    for (int i = 0; i <= 1 << 16; i++) {
      tickets.add(teller.pool.arrive("m"));
    }
    follower.take(0);
    tickets.forEach(ticket -> teller.core.firstByte(0, ticket));
    News news = follower.take(0);
    assertThat(news.anew()).isTrue();
    assertThat(news.sent().getFirst().requests()).allMatch(SentRequest::computed);
  }

  /** Nothing of one that was not said to tell. */
  @Test
  void nothingIsTakenOfWhoDoesNotTell() {
    Picker hearer = new Picker();
    Picker teller = new Picker();
    Follower follower = teller.core.follow();
    teller.pool.arrive("m", 1, 2, 3);
    hearer.core.heard(0, OTHER, follower.take(0));
    assertThat(hearer.endpoint().inFlight()).isZero();
  }

  /** One that is not asked for long is told all anew, and not a part. */
  @Test
  void whoIsToldLateIsToldAllThatIsThere() {
    Picker teller = new Picker();
    Follower follower = teller.core.follow();
    List<Long> tickets = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      tickets.add(teller.pool.arrive("m", i));
    }
    Picker hearer = new Picker();
    hearer.core.tells(OTHER);
    hearer.core.heard(0, OTHER, follower.take(0));
    for (long ticket : tickets.subList(0, 99_000)) {
      teller.core.ended(0, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    }
    News news = follower.take(0);
    assertThat(news.anew()).isTrue();
    hearer.core.heard(0, OTHER, news);
    assertThat(hearer.endpoint().inFlight()).isEqualTo(1_000);
  }
}
