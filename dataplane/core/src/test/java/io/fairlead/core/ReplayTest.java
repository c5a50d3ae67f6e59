package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.external.Advice;
import io.fairlead.core.plugins.BuiltInPlugins;
import io.fairlead.core.prefix.CacheChange;
import io.fairlead.core.prefix.CacheEvent;
import io.fairlead.core.prefix.EngineCache;
import io.fairlead.core.prefix.PromptTokens;
import io.fairlead.core.receipt.DecidedRequest;
import io.fairlead.core.receipt.Decision;
import io.fairlead.core.receipt.KeptRequest;
import io.fairlead.core.receipt.ProfileRun;
import io.fairlead.core.receipt.ReceiptFilter;
import io.fairlead.core.replay.DecisionInputs;
import io.fairlead.core.replay.Replay;
import io.fairlead.core.replay.RunOutputs;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.ReceiptsConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.plugin.PluginFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a receipt holds is decided again to the same pick, every time, whatever plugins decided it.
 */
class ReplayTest {

  private static final long MILLISECOND = 1_000_000;
  private static final int CONFIGS = 60;
  private static final int EVENTS = 80;

  /** Tokens of an engine's blocks. */
  private static final int GRAIN = 16;

  /** Go by what receipts don't hold, earlier requests or prompts: they say what they said. */
  private static final Set<String> NOT_ASKED_AGAIN =
      Set.of(
          "work-cost",
          "no-hit-lru-scorer",
          "session-affinity-scorer",
          "session-affinity-filter",
          "consistent-hash-picker");

  private static final Map<String, Object> BY_ID = Map.of("strategy", "session_id");

  private static final List<PluginConfig> FILTERS =
      List.of(
          plugin("by-label", Map.of("label", "tier", "validValues", List.of("gold", "iron"))),
          plugin("by-label-selector", Map.of("matchLabels", Map.of("tier", "gold"))),
          plugin("label-selector-filter", Map.of("matchLabels", Map.of("tier", "iron"))),
          plugin("decode-filter", Map.of()),
          plugin("prefill-filter", Map.of()),
          plugin(
              "utilization-filter",
              Map.of("conditions", List.of(Map.of("metric", "waiting-queue", "maxValue", 3L)))),
          plugin(
              "endpoint-attribute-filter",
              Map.of(
                  "attribute",
                  "heat",
                  "algorithm",
                  Map.of("threshold", Map.of("operator", "LessThan", "value", 7L)))),
          plugin("context-length-aware", Map.of("enableFiltering", true)),
          plugin("prefix-cache-affinity-filter", Map.of()),
          plugin("topology-affinity-filter", Map.of()),
          plugin("session-affinity-filter", Map.of()),
          plugin("session-affinity-filter", BY_ID),
          plugin("header-based-testing-filter", Map.of()),
          plugin("utilization-detector", Map.of("headroom", 0.5)),
          plugin(
              "concurrency-detector", Map.of("maxConcurrency", 5L, "concurrencyMode", "hybrid")));

  private static final List<PluginConfig> SCORERS =
      List.of(
          plugin("work-cost", Map.of()),
          plugin("queue-scorer", Map.of()),
          plugin("kv-cache-utilization-scorer", Map.of()),
          plugin("prefix-cache-scorer", Map.of()),
          plugin("precise-prefix-cache-scorer", Map.of()),
          plugin("lora-affinity-scorer", Map.of()),
          plugin("running-requests-size-scorer", Map.of()),
          plugin("token-load-scorer", Map.of()),
          plugin("load-aware-scorer", Map.of()),
          plugin("active-request-scorer", Map.of()),
          plugin("no-hit-lru-scorer", Map.of()),
          plugin("session-affinity-scorer", Map.of()),
          plugin("session-affinity-scorer", BY_ID),
          plugin("topology-affinity-scorer", Map.of()),
          plugin("context-length-aware", Map.of()),
          plugin(
              "header-label-affinity-scorer", Map.of("headerName", "x-tier", "labelKey", "tier")),
          plugin(
              "endpoint-attribute-scorer",
              Map.of(
                  "attributeKey", "heat", "algorithm", Map.of("type", "linear_lower_is_better"))));

  private static final List<PluginConfig> PICKERS =
      List.of(
          plugin("max-score-picker", Map.of("maxNumOfEndpoints", 2L)),
          plugin("max-score-picker", Map.of()),
          plugin("random-picker", Map.of()),
          plugin("weighted-random-picker", Map.of()),
          plugin("consistent-hash-picker", Map.of()),
          plugin("consistent-hash-picker", Map.of("key", "session", "loadFactor", 1L)));

  private static final List<PluginConfig> DETECTORS =
      List.of(
          plugin("utilization-detector", Map.of()),
          plugin("concurrency-detector", Map.of("maxConcurrency", 3L)),
          plugin("expected-wait-detector", Map.of()));

  private final Set<String> replayed = new TreeSet<>();
  private int decisions;
  private int retries;
  private int pairs;
  private int trials;
  private int large;
  private int advised;
  private int exact;

  private static PluginConfig plugin(String type, Map<String, Object> parameters) {
    return new PluginConfig(type, type, parameters);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void givesTheSamePickEveryTime(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < CONFIGS; i++) {
      new Life(random.split()).run();
    }
    // The test is worth nothing where these don't occur.
    assertThat(decisions).isGreaterThan(1_000);
    assertThat(retries).as("sent again").isGreaterThan(50);
    assertThat(pairs).as("prefilled elsewhere").isGreaterThan(20);
    assertThat(trials).as("endpoints left out").isGreaterThan(50);
    assertThat(large).as("in pools of which not all is kept").isGreaterThan(50);
    assertThat(advised).as("by a scheduler outside").isGreaterThan(20);
    assertThat(exact).as("that came as tokens where engines tell of theirs").isGreaterThan(200);
    assertThat(replayed).as("types that took part in some decision").containsAll(DECIDE);
  }

  /** Those of flow control decide who goes, not where; some are another type's second name. */
  private static final Set<String> OTHERS = others();

  private static final Set<String> DECIDE = decide();

  private static Set<String> decide() {
    Set<String> types = new TreeSet<>();
    for (List<PluginConfig> some : List.of(FILTERS, SCORERS, PICKERS, DETECTORS)) {
      some.forEach(plugin -> types.add(plugin.type()));
    }
    types.addAll(
        List.of(
            "disagg-profile-handler",
            "header-profile-handler",
            "single-profile-handler",
            "always-disagg-pd-decider",
            "prefix-based-pd-decider",
            "attribute-assigner"));
    return types;
  }

  private static Set<String> others() {
    Set<String> types = new TreeSet<>();
    for (PluginFactory factory : BuiltInPlugins.factories()) {
      String owner = factory.getClass().getName();
      if (owner.contains(".plugins.flow.") || owner.contains(".plugins.compat.")) {
        types.add(factory.type());
      }
    }
    return types;
  }

  /** Whoever adds a type of plugin says here how it is replayed. */
  @Test
  void knowsOfEachTypeHowItIsReplayed() {
    Set<String> all = new TreeSet<>();
    BuiltInPlugins.factories().forEach(factory -> all.add(factory.type()));
    all.removeAll(DECIDE);
    all.removeAll(OTHERS);
    assertThat(all).isEmpty();
  }

  /** One pool under one config. */
  private final class Life implements RequestListener {

    private final SplittableRandom random;
    private final PoolCore core =
        new PoolCore(new PoolLimits(4, 100, 1_000, 1 << 20, 1 << 20, 8 << 20));
    private final PoolConfig config;
    private final List<Long> open = new ArrayList<>();
    private final List<EndpointSpec> endpoints = new ArrayList<>();
    private final Map<String, EngineCache> engines = new HashMap<>();
    private final boolean external;
    private long[] lastBlocks = {};
    private long now = 1;
    private int named;

    Life(SplittableRandom random) {
      this.random = random;
      this.external = random.nextInt(6) == 0;
      this.config = config();
    }

    void run() {
      core.configure(now, new ConfigCompiler(List.of()).compile(config));
      core.replicas(1 + random.nextInt(2));
      relabel(random.nextInt(8) == 0 ? 65 + random.nextInt(20) : 1 + random.nextInt(9));
      for (int i = 0; i < EVENTS; i++) {
        now += random.nextLong(300 * MILLISECOND);
        event();
      }
      for (DecidedRequest request : core.receipts().newest(ReceiptFilter.ANY, 1_000)) {
        KeptRequest kept = Objects.requireNonNull(core.receipts().find(request.id()));
        kept.decisions().forEach(this::check);
        retries += kept.decisions().size() > 1 ? 1 : 0;
      }
    }

    private void check(Decision decision) {
      DecisionInputs inputs = DecisionInputs.of(decision);
      Replay.Outcome first = Replay.of(inputs, fresh(decision));
      Replay.Outcome again = Replay.of(inputs, fresh(decision));
      assertThat(first).as("%s", decision.config().scheduler()).isEqualTo(again);
      assertThat(first.leftOut()).as("%s", decision.config().scheduler()).isEmpty();
      assertThat(first.runs())
          .as("%s of %s", decision.config().scheduler(), inputs.request())
          .isEqualTo(inputs.runs());
      assertThat(first.picked()).isEqualTo(decision.picked());
      assertThat(first.prefill()).isEqualTo(decision.prefill());
      if (inputs.known().equals(inputs)) {
        assertThat(first.repeated().stream().map(this::type)).isSubsetOf(NOT_ASKED_AGAIN);
      } else {
        large++;
        checkOfSome(decision, inputs.known());
      }
      for (ProfileRun run : decision.runs()) {
        assertThat(run.outline().keeps())
            .as("%s", run.outline().filters())
            .hasSameSizeAs(run.outline().filters())
            .noneMatch(String::isBlank);
      }
      decisions++;
      pairs += decision.prefill() >= 0 ? 1 : 0;
      trials += decision.excluded().isEmpty() ? 0 : 1;
      advised +=
          first.runs().stream().anyMatch(run -> run.picker().equals("external-scheduler")) ? 1 : 0;
      for (RunOutputs run : inputs.runs()) {
        run.filters().forEach(name -> replayed.add(type(name)));
        run.scorers().forEach(scorer -> replayed.add(type(scorer.name())));
        replayed.add(type(run.picker()));
      }
      // What is no part of a profile.
      config.scheduler().plugins().stream()
          .map(PluginConfig::type)
          .filter(type -> type.matches(".*(handler|decider|assigner|detector)"))
          .forEach(replayed::add);
      replayed.add("single-profile-handler");
    }

    /** What is told of a large pool is not all of it. */
    private void checkOfSome(Decision decision, DecisionInputs known) {
      Replay.Outcome told = Replay.ofSome(known, fresh(decision));
      assertThat(told.leftOut()).as("%s", decision.config().scheduler()).isEmpty();
      assertThat(known.endpoints().get(told.picked()).name())
          .as("%s of %s", decision.config().scheduler(), known.request())
          .isEqualTo(decision.candidate(decision.picked()));
      assertThat(told.prefill() < 0 ? null : known.endpoints().get(told.prefill()).name())
          .as("%s of %s", decision.config().scheduler(), known.request())
          .isEqualTo(decision.prefill() < 0 ? null : decision.candidate(decision.prefill()));
    }

    private String type(String name) {
      return config.scheduler().plugins().stream()
          .filter(plugin -> plugin.name().equals(name))
          .findFirst()
          .map(PluginConfig::type)
          .orElse(name);
    }

    private static CompiledConfig fresh(Decision decision) {
      return new ConfigCompiler(List.of()).compile(decision.config());
    }

    private void event() {
      switch (random.nextInt(14)) {
        case 0 -> relabel(endpoints.size() + random.nextInt(2));
        case 1, 2 -> scrape();
        case 3 -> {
          EndpointSpec bad = endpoints.get(random.nextInt(endpoints.size()));
          for (int i = random.nextInt(4); i >= 0; i--) {
            core.unreachable(now, bad, now, Failure.REFUSED);
          }
          core.tick(now);
        }
        case 4 -> take(ticket -> core.attemptFailed(now, ticket, Failure.REFUSED));
        case 5 -> take(ticket -> core.firstByte(now, ticket));
        case 6 -> take(ticket -> core.ended(now, ticket, Outcome.COMPLETED, new Usage(100, 20, 0)));
        case 7, 8 -> cacheChanged();
        default -> arrive();
      }
    }

    private void take(LongConsumer event) {
      if (!open.isEmpty()) {
        event.accept(open.get(random.nextInt(open.size())));
      }
    }

    private void relabel(int count) {
      endpoints.clear();
      for (int i = 0; i < count; i++) {
        Map<String, String> labels = new HashMap<>();
        labels.put("tier", random.nextInt(3) == 0 ? "iron" : "gold");
        labels.put("topology.kubernetes.io/zone", "z" + random.nextInt(2));
        labels.put("kubernetes.io/hostname", "h" + random.nextInt(3));
        labels.put("llm-d.ai/context-length-range", random.nextInt(2) == 0 ? "0-4000" : "0-99999");
        if (random.nextInt(4) > 0) {
          labels.put("llm-d.ai/role", random.nextBoolean() ? "decode" : "prefill");
        }
        endpoints.add(new EndpointSpec("e" + i, "1", "10.0.0." + i, 8000, labels));
      }
      core.endpoints(now, endpoints);
    }

    private void scrape() {
      EndpointSpec endpoint = endpoints.get(random.nextInt(endpoints.size()));
      boolean adapters = random.nextInt(3) == 0;
      Map<String, Double> heat =
          random.nextBoolean() ? Map.of("heat", 10 * random.nextDouble()) : Map.of();
      core.scraped(
          now,
          endpoint,
          now,
          new EndpointMetrics(
              random.nextInt(6) - 1,
              random.nextInt(6),
              random.nextInt(5) == 0 ? Double.NaN : random.nextDouble(),
              16,
              1_000,
              adapters ? "base" : "",
              adapters ? 2 : -1,
              adapters ? List.of("lora-" + random.nextInt(3)) : List.of(),
              List.of(),
              heat));
    }

    /** An engine tells that it holds the beginning of the last prompt, or nothing any more. */
    private void cacheChanged() {
      EndpointSpec endpoint = endpoints.get(random.nextInt(endpoints.size()));
      EngineCache engine =
          engines.computeIfAbsent(endpoint.name(), name -> new EngineCache(GRAIN, 10_000));
      long[] held = Arrays.copyOf(lastBlocks, random.nextInt(lastBlocks.length + 1));
      CacheChange change = new CacheChange();
      CacheEvent event =
          random.nextInt(5) == 0
              ? new CacheEvent.Cleared()
              : new CacheEvent.Stored(held, false, 0, tokens(held, 0), GRAIN, "", false);
      assertThat(engine.apply(event, change)).isTrue();
      core.cacheChanged(endpoint, GRAIN, change.whole(random.nextBoolean()));
    }

    /** A few for each block, and some more. */
    private static int[] tokens(long[] blocks, int more) {
      return IntStream.range(0, blocks.length * GRAIN + more)
          .map(i -> i / GRAIN < blocks.length ? (int) blocks[i / GRAIN] : i)
          .toArray();
    }

    private void arrive() {
      long[] blocks = new long[random.nextInt(30)];
      long chain = random.nextInt(3);
      for (int i = 0; i < blocks.length; i++) {
        chain = chain * 31 + 7 + (random.nextInt(10) == 0 ? 1 : 0);
        blocks[i] = chain;
      }
      lastBlocks = blocks;
      Map<String, String> headers = new HashMap<>();
      header(headers, "x-session-id", "s" + random.nextInt(4));
      header(headers, "x-session-token", "ZTE=");
      header(headers, "x-tier", random.nextBoolean() ? "gold" : "iron");
      header(headers, "test-epp-endpoint-selection", "10.0.0." + random.nextInt(3));
      header(headers, "x-profile", random.nextBoolean() ? "default" : "other");
      RequestFacts facts =
          RequestFactsBuilder.of(
                  List.of("m", "base", "lora-1", "").get(random.nextInt(4)),
                  random.nextLong(),
                  blocks)
              .id("r" + named++)
              .prompt(PromptSize.ofTokens(blocks.length * 16 + random.nextInt(16)))
              .maxOutputTokens(random.nextBoolean() ? -1 : 50)
              .bodyBytes(100)
              .headers(headers::get)
              .subset(subset())
              .build();
      if (random.nextInt(4) > 0) {
        facts = facts.with(PromptTokens.of(tokens(blocks, random.nextInt(GRAIN)), GRAIN));
        exact += engines.isEmpty() ? 0 : 1;
      }
      open.add(core.arrive(now, facts, advice(), this));
    }

    private void header(Map<String, String> headers, String name, String value) {
      if (random.nextInt(3) == 0) {
        headers.put(name, value);
      }
    }

    private @Nullable Subset subset() {
      return random.nextInt(8) > 0
          ? null
          : new Subset(IntStream.range(0, 5).mapToObj(i -> "10.0.0." + i).toList());
    }

    private @Nullable Advice advice() {
      if (!external || random.nextInt(3) == 0) {
        return null;
      }
      // Of a large pool's many equals not all are told.
      int count = 1 + random.nextInt(random.nextBoolean() ? 3 : endpoints.size());
      long[] identities =
          IntStream.range(0, count)
              .mapToLong(i -> Advice.identity("e" + (i + random.nextInt(3))))
              .distinct()
              .toArray();
      double[] scores =
          IntStream.range(0, identities.length).mapToDouble(i -> random.nextInt(2)).toArray();
      return new Advice(identities, scores);
    }

    private PoolConfig config() {
      return new PoolConfig(
          "default",
          "pool",
          Map.of("app", "vllm"),
          List.of(8000),
          "http",
          List.of(
              Pool.model(
                  "m",
                  Criticality.CRITICAL,
                  new TargetModel("base", 1),
                  new TargetModel("lora-0", 1)),
              Pool.model("base", Criticality.SHEDDABLE)),
          RequestsConfig.DEFAULT.withReceipts(new ReceiptsConfig(1_000, 1)),
          scheduler());
    }

    private SchedulerConfig scheduler() {
      List<PluginConfig> plugins = new ArrayList<>();
      List<ProfileConfig> profiles = new ArrayList<>();
      switch (random.nextInt(3)) {
        case 0 -> {
          profiles.add(profile("decode", plugins));
          profiles.add(profile("prefill", plugins));
          pairs(plugins);
        }
        case 1 -> {
          profiles.add(profile("default", plugins));
          profiles.add(profile("other", plugins));
          plugins.add(
              new PluginConfig(
                  "by-header",
                  "header-profile-handler",
                  Map.of("headerName", "x-profile", "defaultProfile", "default")));
        }
        default -> profiles.add(profile("default", plugins));
      }
      if (random.nextInt(3) == 0) {
        plugins.add(
            new PluginConfig(
                "assigner",
                "attribute-assigner",
                Map.of(
                    "attribute",
                    "zone",
                    "rules",
                    List.of(
                        Map.of("values", List.of("z0"), "criticality", "Critical"),
                        Map.of("values", List.of("z0", "z1"))))));
      }
      PluginConfig detector = DETECTORS.get(random.nextInt(DETECTORS.size()));
      plugins.add(new PluginConfig("full", detector.type(), detector.parameters()));
      if (external) {
        plugins.add(plugin("external-scheduler", Map.of("address", "localhost:9100")));
      }
      return new SchedulerConfig(
          plugins,
          profiles,
          "full",
          Map.of("flowControl", random.nextBoolean()),
          null,
          null,
          List.of());
    }

    private void pairs(List<PluginConfig> plugins) {
      if (random.nextInt(3) == 0) {
        plugins.add(
            new PluginConfig(
                "pairs", "disagg-profile-handler", Map.of("stageOrder", "prefill-first")));
        return;
      }
      String type = random.nextBoolean() ? "always-disagg-pd-decider" : "prefix-based-pd-decider";
      plugins.add(
          new PluginConfig(
              "decider",
              type,
              type.startsWith("prefix") ? Map.of("nonCachedTokens", 64L) : Map.of()));
      plugins.add(
          new PluginConfig(
              "pairs", "disagg-profile-handler", Map.of("deciders", Map.of("prefill", "decider"))));
    }

    private ProfileConfig profile(String name, List<PluginConfig> plugins) {
      List<PluginReference> references = new ArrayList<>();
      for (int i = random.nextInt(3); i > 0; i--) {
        references.add(own(name, FILTERS, plugins, 1));
      }
      for (int i = random.nextInt(4); i > 0; i--) {
        references.add(own(name, SCORERS, plugins, 1 + random.nextInt(3) * 0.3));
      }
      references.add(own(name, PICKERS, plugins, 1));
      return new ProfileConfig(name, references);
    }

    private PluginReference own(
        String profile, List<PluginConfig> of, List<PluginConfig> plugins, double weight) {
      PluginConfig kind = of.get(random.nextInt(of.size()));
      String name = profile + "-" + plugins.size() + "-" + kind.type();
      plugins.add(new PluginConfig(name, kind.type(), kind.parameters()));
      return new PluginReference(name, weight);
    }

    @Override
    public void send(long request, Route route) {}

    @Override
    public void pass(long request) {}

    @Override
    public void reject(long request, Rejection rejection) {
      open.remove(request);
    }
  }
}
