package io.fairlead.core.shadow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.Follower;
import io.fairlead.core.HealthState;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.PromptSize;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestFacts.Delivery;
import io.fairlead.core.RequestFactsBuilder;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.Timeouts;
import io.fairlead.core.Usage;
import io.fairlead.core.handover.News;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.core.scheduling.InvalidConfigException;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.ShadowConfig;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A shadow beside a real core, on one clock. */
class ShadowTest {

  private static final long MILLISECOND = 1_000_000;
  private static final int BLOCK_TOKENS = 16;
  private static final List<Outcome> OUTCOMES = List.of(Outcome.values());

  private static final SchedulerConfig BY_PREFIX = plugins("prefix-cache-scorer");
  private static final SchedulerConfig BY_QUEUE = plugins("queue-scorer");
  private static final SchedulerConfig AT_RANDOM = plugins("random-picker");

  private static final RequestListener NOBODY =
      new RequestListener() {
        @Override
        public void send(long request, Route route) {}

        @Override
        public void pass(long request) {}

        @Override
        public void reject(long request, Rejection rejection) {}
      };

  private final PoolCore core = new PoolCore();
  private final Shadow shadow = new Shadow(PoolLimits.DEFAULT);
  private final List<EndpointSpec> endpoints = new ArrayList<>();
  private final Map<Long, Route> routes = new HashMap<>();
  private long now;
  private int sent;

  /** Whether the shadow is asked about what is sent. */
  private boolean asked = true;

  private static SchedulerConfig plugins(String... types) {
    List<PluginConfig> plugins = new ArrayList<>();
    for (String type : types) {
      plugins.add(new PluginConfig(type, type, Map.of()));
    }
    return new SchedulerConfig(
        plugins, List.of(), null, Map.of("flowControl", false), null, null, List.of());
  }

  private static PoolConfig pool(SchedulerConfig real, ShadowConfig... shadows) {
    return new PoolConfig("ns", "pool", Map.of("a", "b"), List.of(8000), "http", List.of(), real)
        .withShadows(List.of(shadows));
  }

  private void begin(SchedulerConfig real, SchedulerConfig tried, int servers) {
    begin(pool(real, new ShadowConfig("tried", tried)), servers);
  }

  private void begin(PoolConfig pool, int servers) {
    CompiledConfig config = new ConfigCompiler(List.of()).compile(pool);
    core.configure(now, config);
    shadow.configure(now, config.shadows().getFirst().config(), true);
    IntStream.range(0, servers)
        .mapToObj(i -> new EndpointSpec("s" + i, "1", "10.0.0." + i, 8000, Map.of()))
        .forEach(endpoints::add);
    core.endpoints(now, endpoints);
    shadow.endpoints(now, endpoints);
  }

  private long send(long seed, long... blocks) {
    return send(Delivery.STREAMED, seed, blocks);
  }

  private long send(Delivery delivery, long seed, long... blocks) {
    RequestFacts facts =
        RequestFactsBuilder.of("m", seed, blocks)
            .prompt(PromptSize.ofTokens(blocks.length * BLOCK_TOKENS))
            .delivery(delivery)
            .build();
    return core.arrive(
        now,
        facts,
        new RequestListener() {
          @Override
          public void send(long request, Route route) {
            routes.put(request, route);
            if (asked && route.attempt() == 1) {
              sent++;
              shadow.sent(now, request, facts, route);
            }
          }

          @Override
          public void pass(long request) {}

          @Override
          public void reject(long request, Rejection rejection) {}
        });
  }

  /** What engines tell is what the real choices have left there: it would reward those. */
  @Test
  void oneThatAsksForEventsGoesByItsOwnChoicesAsAnyOther() {
    List<ShadowSnapshot> told = new ArrayList<>();
    for (SchedulerConfig tried : List.of(BY_PREFIX, plugins("precise-prefix-cache-scorer"))) {
      ShadowTest life = new ShadowTest();
      life.begin(AT_RANDOM, tried, 4);
      for (int i = 0; i < 40; i++) {
        life.now += MILLISECOND;
        long request = life.send(i, 1 + i % 3, 2 + i % 3, 7);
        life.firstByte(request);
        life.end(request, Outcome.COMPLETED);
      }
      told.add(life.shadow.snapshot());
    }
    assertThat(told.getLast()).isEqualTo(told.getFirst());
    assertThat(told.getLast().own().cachedTokens())
        .as("its own choices gather what the real ones scatter")
        .isGreaterThan(told.getLast().real().cachedTokens());
  }

  private void firstByte(long request) {
    core.firstByte(now, request);
    shadow.firstByte(now, request);
  }

  private void end(long request, Outcome outcome) {
    core.ended(now, request, outcome, Usage.UNKNOWN);
    shadow.ended(now, request, outcome, Usage.UNKNOWN);
  }

  private void tick(long millis) {
    now += millis * MILLISECOND;
    core.tick(now);
    shadow.tick(now);
  }

  private void serve(long seed, long... blocks) {
    long request = send(seed, blocks);
    tick(10);
    firstByte(request);
    tick(10);
    end(request, Outcome.COMPLETED);
  }

  @Test
  void theSameSchedulingAgreesWithItself() {
    begin(AT_RANDOM, AT_RANDOM, 8);
    for (int i = 0; i < 200; i++) {
      serve(i * 77L, i, i + 1);
    }
    ShadowSnapshot told = shadow.snapshot();
    assertThat(told.requests()).isEqualTo(200);
    assertThat(told.agreed()).isEqualTo(200);
    assertThat(told.differed()).isZero();
    assertThat(told.own()).isEqualTo(told.real());
  }

  @Test
  void oneThatKeepsPromptsTogetherFindsMoreCached() {
    begin(AT_RANDOM, BY_PREFIX, 8);
    for (int i = 0; i < 400; i++) {
      long tenant = i % 20;
      serve(i * 77L, tenant * 100, tenant * 100 + 1, tenant * 100 + 2, 1_000_000 + i);
    }
    ShadowSnapshot told = shadow.snapshot();
    assertThat(told.differed()).isGreaterThan(200);
    assertThat(told.promptTokens()).isEqualTo(400L * 4 * BLOCK_TOKENS);
    // Each tenant's first request finds nothing; the others three blocks of four, somewhere.
    assertThat(told.own().cachedTokens()).isEqualTo(380L * 3 * BLOCK_TOKENS);
    assertThat(told.real().cachedTokens()).isLessThan(told.own().cachedTokens() * 3 / 4);
    assertThat(told.own().firstTokenSeconds()).isLessThan(told.real().firstTokenSeconds());
  }

  /** It began later, or is asked about a part of them as the picker is busy. */
  @Test
  void choicesAreComparedByTheSameRequests() {
    begin(AT_RANDOM, AT_RANDOM, 4);
    Random random = new Random(5);
    for (int i = 0; i < 2_000; i++) {
      asked = i >= 500 && random.nextInt(8) == 0;
      long tenant = random.nextInt(100);
      long request = send(i * 77L, tenant * 100, tenant * 100 + 1, 1_000_000 + i);
      tick(10);
      firstByte(request);
      tick(10);
      end(request, random.nextInt(10) == 0 ? Outcome.DISCONNECTED : Outcome.COMPLETED);
    }
    ShadowSnapshot told = shadow.snapshot();
    assertThat(told.requests()).isBetween(150L, 280L);
    assertThat(told.agreed()).isEqualTo(told.requests());
    assertThat(told.own().cachedTokens()).isPositive();
    assertThat(told.own()).isEqualTo(told.real());
  }

  @Test
  void whatOtherPickersSendIsInTheSameCachesForBothSides() {
    begin(BY_PREFIX, BY_PREFIX, 4);
    PoolCore other = new PoolCore();
    other.configure(now, new ConfigCompiler(List.of()).compile(pool(BY_PREFIX)));
    other.endpoints(now, endpoints);
    Follower told = other.follow();
    core.tells(1);
    shadow.tells(1);
    for (int i = 0; i < 200; i++) {
      long tenant = i / 2;
      RequestFacts facts =
          RequestFactsBuilder.of("m", i, tenant * 100, tenant * 100 + 1)
              .prompt(PromptSize.ofTokens(2 * BLOCK_TOKENS))
              .build();
      if (i % 2 == 0) {
        long request = other.arrive(now, facts, NOBODY);
        other.firstByte(now, request);
        other.ended(now, request, Outcome.COMPLETED, Usage.UNKNOWN);
        News news = told.take(now);
        core.heard(now, 1, news);
        shadow.heard(now, 1, news);
      } else {
        serve(i, tenant * 100, tenant * 100 + 1);
      }
    }
    ShadowSnapshot seen = shadow.snapshot();
    assertThat(seen.own().cachedTokens()).isGreaterThan(90L * BLOCK_TOKENS);
    assertThat(seen.own()).isEqualTo(seen.real());
  }

  @Test
  void itsAccountFollowsFromItsOwnChoices() {
    begin(plugins("prefix-cache-scorer"), BY_QUEUE, 4);
    serve(1, 1, 2, 3, 4);
    List<Long> open = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      open.add(send(i * 31L, 1, 2, 3, 4)); // all to the one that has the prompt
      for (EndpointSpec endpoint : endpoints) {
        boolean busy =
            Objects.requireNonNull(routes.get(open.getLast())).endpoint().equals(endpoint.name());
        shadow.scraped(
            now, endpoint, now, new EndpointMetrics(busy ? i : 0, busy ? 1 : 0, 0.1, 16, 1000));
      }
      tick(5);
    }
    ShadowSnapshot told = shadow.snapshot();
    assertThat(told.real().spread()).isCloseTo(4, within(0.1));
    assertThat(told.own().spread()).as("by queues that are its own").isLessThan(1.8);
    open.forEach(request -> end(request, Outcome.COMPLETED));
  }

  /** Their prompts were computed. */
  @Test
  void whatClientsLeaveAfterTheFirstTokenStaysCached() {
    begin(BY_PREFIX, BY_PREFIX, 3);
    for (int i = 0; i < 100; i++) {
      long tenant = i % 10;
      long request = send(i * 77L, tenant * 100, tenant * 100 + 1, 1_000_000 + i);
      tick(10);
      firstByte(request);
      tick(1_000);
      end(request, Outcome.DISCONNECTED);
    }
    ShadowSnapshot told = shadow.snapshot();
    assertThat(told.requests()).isEqualTo(100);
    assertThat(told.own().cachedTokens()).isEqualTo(90L * 2 * BLOCK_TOKENS);
    assertThat(told.own().cachedTokens()).isEqualTo(told.real().cachedTokens());
  }

  @Test
  void whatTheRealEndpointFailedIsNotHeldAgainstItsOwn() {
    begin(AT_RANDOM, BY_PREFIX, 3);
    for (int i = 0; i < 100; i++) {
      long request = send(i * 13L, 7, 8);
      tick(5);
      end(request, i % 2 == 0 ? Outcome.FAILED : Outcome.DISCONNECTED);
    }
    assertThat(shadow.snapshot().notPlaced()).isZero();
    assertThat(shadow.snapshot().requests()).isEqualTo(100);
  }

  /** Behind Envoy nobody could send them again; and most of what clients do wrong is theirs. */
  @Test
  void whatARequestCameToElsewhereTakesNobodyOut() {
    begin(AT_RANDOM, BY_PREFIX, 3);
    for (Outcome outcome : List.of(Outcome.INVALID, Outcome.REFUSED, Outcome.FAILED)) {
      for (int i = 0; i < 400; i++) {
        long request = send(new Delivery(true, false), i * 13L, 7, 8);
        tick(150);
        // Told to the shadow alone: the real pool is fine.
        core.ended(now, request, Outcome.COMPLETED, Usage.UNKNOWN);
        shadow.ended(now, request, i < 370 ? Outcome.COMPLETED : outcome, Usage.UNKNOWN);
      }
      assertThat(endpoints)
          .extracting(e -> Objects.requireNonNull(shadow.load(e.name())).health())
          .as("%s", outcome)
          .containsOnly(HealthState.IN_USE);
    }
    assertThat(shadow.snapshot().active()).isZero();
  }

  /** Nothing ever comes of its own requests, and it is no silence of the servers that it chose. */
  @Test
  void firstTokensThatTakeLongPutNobodyOut() {
    begin(AT_RANDOM, AT_RANDOM, 3);
    for (int i = 0; i < 20; i++) {
      long request = send(i * 77L, i, i + 1);
      for (int step = 0; step < 120; step++) {
        now += 100 * MILLISECOND;
        shadow.tick(now);
        assertThat(endpoints)
            .extracting(e -> Objects.requireNonNull(shadow.load(e.name())).health())
            .containsOnly(HealthState.IN_USE);
      }
      firstByte(request);
      end(request, Outcome.COMPLETED);
    }
  }

  @Test
  void whatItsOwnChoiceRefusedItSees() {
    begin(AT_RANDOM, AT_RANDOM, 4);
    int toTheLast = 0;
    for (int i = 0; i < 400; i++) {
      long request = send(new Delivery(true, false), i * 13L, 7, 8);
      boolean last = Objects.requireNonNull(routes.get(request)).endpoint().equals("s3");
      toTheLast += i >= 200 && last ? 1 : 0;
      tick(10);
      if (!last) {
        firstByte(request);
      }
      Usage usage = new Usage(32, 5, 0);
      core.ended(now, request, last ? Outcome.REFUSED : Outcome.COMPLETED, usage);
      shadow.ended(now, request, last ? Outcome.REFUSED : Outcome.COMPLETED, usage);
    }
    assertThat(toTheLast).as("the real pool has seen it").isLessThan(20);
    assertThat(shadow.snapshot().agreed()).isGreaterThan(380);
  }

  /** Whether a request may go was decided before a shadow hears of it. */
  @Test
  void oneThatIsSheddableIsNotRefusedAgain() {
    SchedulerConfig scheduler =
        new SchedulerConfig(
            List.of(
                new PluginConfig("queue", "queue-scorer", Map.of()),
                new PluginConfig("full", "utilization-detector", Map.of())),
            List.of(),
            "full");
    PoolConfig pool =
        new PoolConfig(
                "ns",
                "pool",
                Map.of("a", "b"),
                List.of(8000),
                "http",
                List.of(new ModelConfig("m", Criticality.SHEDDABLE, List.of())),
                scheduler)
            .withShadows(List.of(new ShadowConfig("tried", scheduler)));
    begin(pool, 4);
    for (int i = 0; i < 100; i++) {
      for (EndpointSpec endpoint : endpoints) {
        boolean full = !endpoint.name().equals("s0");
        EndpointMetrics page = new EndpointMetrics(0, 0, full ? 0.9 : 0.1, 16, 1000);
        core.scraped(now, endpoint, now, page);
        shadow.scraped(now, endpoint, now, page);
      }
      serve(i * 13L, i, i + 1);
    }
    for (EndpointSpec endpoint : endpoints) {
      shadow.scraped(now, endpoint, now, new EndpointMetrics(0, 0, 0.9, 16, 1000));
    }
    serve(7, 8, 9);
    ShadowSnapshot told = shadow.snapshot();
    assertThat(told.requests()).isEqualTo(101);
    assertThat(told.notPlaced()).isZero();
    assertThat(told.agreed()).isEqualTo(101);
  }

  /** It was sent after its wait, or as somebody was idle where it really went. */
  @Test
  void oneThatCantBeInTimeIsNotRefusedAgain() {
    PoolConfig pool =
        new PoolConfig(
                "ns",
                "pool",
                Map.of("a", "b"),
                List.of(8000),
                "http",
                List.of(
                    new ModelConfig("m", Criticality.SHEDDABLE, List.of()),
                    new ModelConfig("n", Criticality.STANDARD, List.of())),
                BY_QUEUE)
            .withShadows(List.of(new ShadowConfig("tried", plugins("work-cost"))));
    begin(pool, 1);
    placed(RequestFactsBuilder.of("n", 1).tokens(100_000).build());
    placed(RequestFactsBuilder.of("m", 2).tokens(100).header("x-slo-ttft-ms", "300").build());
    assertThat(shadow.snapshot().notPlaced()).isZero();
    assertThat(shadow.snapshot().requests()).isEqualTo(2);
  }

  /** One that was sent to the only server. */
  private void placed(RequestFacts facts) {
    Route route = new Route(facts.model(), Criticality.STANDARD, "s0", "10.0.0.0", 8000, 0, 1);
    shadow.sent(now, facts.seed(), facts, route);
  }

  /** Nobody is to tell of it, then: it would be imagined to go on for ever. */
  @Test
  void whatItsOwnCoreHasGivenUpIsOverWhereNobodySeesTheRealOne() {
    begin(AT_RANDOM, AT_RANDOM, 2);
    RequestFacts facts =
        RequestFactsBuilder.of("m", 1)
            .tokens(100)
            .timeouts(new Timeouts(null, null, Duration.ofSeconds(1)))
            .build();
    placed(facts);
    assertThat(shadow.open()).isEqualTo(1);
    for (int i = 0; i < 20; i++) {
      tick(100);
    }
    assertThat(shadow.snapshot().active()).as("given up").isZero();
    shadow.left(now, facts.seed());
    assertThat(shadow.open()).isZero();
  }

  /** One that would drown: all go to one of four servers, which computes them one by one. */
  @Test
  void whatItImaginesIsBounded() {
    begin(AT_RANDOM, BY_PREFIX, 4);
    Random random = new Random(3);
    Map<String, Long> busyUntil = new HashMap<>();
    TreeMap<Long, Long> open = new TreeMap<>(); // by when it is answered
    for (int i = 0; i < 60_000; i++) {
      long[] blocks = random.longs(1 + random.nextInt(40)).toArray();
      blocks[0] = 1;
      long request = send(random.nextLong(), blocks);
      String at = Objects.requireNonNull(routes.remove(request)).endpoint();
      long done = Math.max(now, busyUntil.getOrDefault(at, 0L)) + blocks.length * 150_000L;
      busyUntil.put(at, done);
      open.put(done + i % 100_000, request); // of others that are done then another key
      now += MILLISECOND;
      while (!open.isEmpty() && open.firstKey() <= now) {
        long over = open.pollFirstEntry().getValue();
        firstByte(over);
        end(over, Outcome.COMPLETED);
      }
      if (i % 100 == 0) {
        tick(0);
        assertThat(shadow.snapshot().active()).isLessThan(20_000);
        assertThat(shadow.planned()).isLessThan(50_000);
      }
    }
    ShadowSnapshot told = shadow.snapshot();
    assertThat(told.leftOut()).isPositive();
    assertThat(told.requests() + told.leftOut()).isEqualTo(60_000);
    open.values().forEach(request -> end(request, Outcome.COMPLETED));
    for (int i = 0; i < 1_200; i++) {
      tick(100);
    }
    assertThat(shadow.snapshot().active()).isZero();
    assertThat(shadow.planned()).isZero();
  }

  /** Their pace is known from answers in one piece, too: a guess may be far too slow. */
  @Test
  void answersInOnePieceSayHowFastServersAre() {
    begin(BY_PREFIX, BY_PREFIX, 4);
    Deque<Long> open = new ArrayDeque<>();
    for (int i = 0; i < 20_000; i++) {
      long[] blocks = new Random(i).longs(20).toArray();
      blocks[0] = i % 40;
      open.add(send(new Delivery(false, true), i * 77L, blocks));
      now += MILLISECOND;
      if (open.size() > 20) {
        firstByte(open.peek());
        end(open.remove(), Outcome.COMPLETED);
      }
      if (i % 100 == 0) {
        tick(0);
      }
    }
    ShadowSnapshot told = shadow.snapshot();
    assertThat(told.leftOut()).isZero();
    assertThat(told.agreed()).isEqualTo(20_000);
    assertThat(told.active()).isLessThan(100);
  }

  @Test
  void whatWasCountedOfOtherChoicesIsForgottenAndPromptsAreNot() {
    begin(BY_PREFIX, BY_PREFIX, 4);
    for (int i = 0; i < 10; i++) {
      serve(i, 1, 2, 3, 4);
    }
    CompiledConfig config =
        new ConfigCompiler(List.of())
            .compile(pool(BY_PREFIX, new ShadowConfig("tried", BY_PREFIX)));
    shadow.configure(now, config.shadows().getFirst().config(), false);
    assertThat(shadow.snapshot().requests()).isEqualTo(10);
    long open = send(77, 1, 2, 3, 4);
    shadow.configure(now, config.shadows().getFirst().config(), true);
    assertThat(shadow.snapshot().requests()).isZero();
    assertThat(shadow.snapshot().own().firstTokenSeconds()).isZero();
    end(open, Outcome.COMPLETED); // of before: nothing is counted below zero
    serve(78, 1, 2, 3, 4);
    assertThat(shadow.snapshot().requests()).isEqualTo(1);
    // The last token of a prompt is always computed.
    assertThat(shadow.snapshot().own().cachedTokens()).isEqualTo(4L * BLOCK_TOKENS - 1);
  }

  @Test
  void oneThatHasNobodyIsCountedAsThat() {
    begin(AT_RANDOM, plugins("random-picker"), 2);
    shadow.endpoints(now, List.of());
    serve(1, 2, 3);
    assertThat(shadow.snapshot().notPlaced()).isEqualTo(1);
    assertThat(shadow.open()).isZero();
  }

  @Test
  void aRequestThatIsLeftIsOverByTheEstimate() {
    begin(AT_RANDOM, BY_PREFIX, 2);
    long request = send(1, 2, 3);
    shadow.left(now, request);
    assertThat(shadow.open()).isEqualTo(1);
    for (int i = 0; i < 3_000 && shadow.open() > 0; i++) {
      now += 10 * MILLISECOND;
      shadow.tick(now);
    }
    assertThat(shadow.open()).isZero();
    assertThat(shadow.snapshot().active()).isZero();
  }

  /** Whatever comes in whatever order, nothing is counted for ever and no count is negative. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void nothingLeaks(long seed) {
    Random random = new Random(seed);
    SchedulerConfig[] configs = {BY_PREFIX, BY_QUEUE, AT_RANDOM, SchedulerConfig.DEFAULT};
    begin(configs[random.nextInt(4)], configs[random.nextInt(4)], 1 + random.nextInt(12));
    List<Long> open = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      int what = random.nextInt(10);
      if (what < 4) {
        long[] blocks = random.longs(random.nextInt(20), 0, 50).toArray();
        open.add(send(random.nextLong(), blocks));
      } else if (what < 6 && !open.isEmpty()) {
        firstByte(open.get(random.nextInt(open.size())));
      } else if (what < 9 && !open.isEmpty()) {
        long request = open.remove(random.nextInt(open.size()));
        if (random.nextInt(20) == 0) {
          core.left(now, request, ticket -> {});
          shadow.left(now, request);
        } else {
          end(request, OUTCOMES.get(random.nextInt(3)));
        }
        if (random.nextInt(10) == 0) {
          end(request, Outcome.COMPLETED); // again
          firstByte(request);
        }
      } else {
        tick(random.nextInt(120));
        if (random.nextInt(50) == 0) {
          List<EndpointSpec> some = endpoints.stream().filter(e -> random.nextInt(4) > 0).toList();
          core.endpoints(now, some);
          shadow.endpoints(now, some);
        }
        EndpointSpec one = endpoints.get(random.nextInt(endpoints.size()));
        if (random.nextInt(30) == 0) {
          shadow.unreachable(now, one, now, Failure.REFUSED);
        } else {
          shadow.scraped(now, one, now, new EndpointMetrics(random.nextInt(9), 3, 0.5, 16, 1000));
        }
      }
      ShadowSnapshot told = shadow.snapshot();
      assertThat(told.requests() + told.leftOut()).isEqualTo(sent);
      assertThat(told.differed()).isNotNegative();
    }
    open.forEach(request -> end(request, Outcome.COMPLETED));
    for (int i = 0; i < 6_000; i++) {
      now += 100 * MILLISECOND;
      shadow.tick(now);
    }
    assertThat(shadow.open()).isZero();
    assertThat(shadow.snapshot().active()).isZero();
  }

  @Test
  void whatIsWrongWithAShadowIsToldByItsField() {
    PoolConfig wrong =
        pool(
            SchedulerConfig.DEFAULT,
            new ShadowConfig("one", BY_QUEUE),
            new ShadowConfig("two", plugins("queue-scorer", "no-such-scorer")));
    assertThatThrownBy(() -> new ConfigCompiler(List.of()).compile(wrong))
        .isInstanceOf(InvalidConfigException.class)
        .hasMessageContaining("shadows[1].scheduler.plugins[1].type");
  }
}
