package io.fairlead.core.plugins.cost;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestFactsBuilder;
import io.fairlead.core.RequestHeaders;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.core.view.Peers;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The scorer in columns says what the plain one says, decision by decision, whatever happened in
 * the pool before.
 */
final class WorkCostEquivalenceTest implements RequestListener {

  private static final int EVENTS = 30_000;
  private static final double NEAR = 1e-9;
  private static final List<Outcome> OUTCOMES = List.of(Outcome.values());
  private static final List<String> HARDWARE = List.of("", "NVIDIA-L4", "H100", "a100", "L40S");
  private static final List<String> MODELS = List.of("critical", "standard", "sheddable", "other");

  private final List<Long> open = new ArrayList<>();
  private int compared;
  private int inTwo;

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(
      longs = {
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25
      })
  void costsAreThoseOfThePlainFormula(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    PoolCore core = new PoolCore();
    long now = random.nextLong(1L << 62);
    configure(core, now, seed);
    List<EndpointSpec> specs = specs(random);
    core.endpoints(now, specs);
    for (int i = 0; i < EVENTS; i++) {
      now += random.nextInt(20_000_000);
      switch (random.nextInt(20)) {
        case 0, 1, 2, 3, 4, 5 -> open.add(core.arrive(now, request(random), this));
        case 6, 7, 8, 9, 10 -> {
          if (!open.isEmpty()) {
            core.firstByte(now, open.get(random.nextInt(open.size())));
          }
        }
        case 11, 12, 13, 14, 15 -> {
          if (!open.isEmpty()) {
            Outcome outcome = OUTCOMES.get(random.nextInt(OUTCOMES.size()));
            core.ended(now, open.remove(random.nextInt(open.size())), outcome, usage(random));
          }
        }
        case 16 -> {
          if (!open.isEmpty()) {
            core.attemptFailed(now, open.get(random.nextInt(open.size())), Failure.DIED);
          }
        }
        case 17, 18 -> {
          if (!specs.isEmpty()) {
            EndpointSpec one = specs.get(random.nextInt(specs.size()));
            core.scraped(now, one, now, scrape(random));
          }
        }
        default -> {
          if (random.nextInt(20) == 0) {
            specs = specs(random);
            core.endpoints(now, specs);
          }
          if (random.nextInt(50) == 0) {
            core.replicas(1 + random.nextInt(3));
          }
          if (random.nextInt(100) == 0) {
            configure(core, now, random.nextInt(10));
          }
        }
      }
    }
    assertThat(compared).as("decisions compared with seed %d", seed).isGreaterThan(EVENTS / 10);
    assertThat(inTwo).as("of them, of one end of a pair").isPositive();
  }

  private void configure(PoolCore core, long now, long kind) {
    List<PluginConfig> plugins = new ArrayList<>();
    Map<String, Object> settings =
        switch ((int) (kind % 3)) {
          case 0 -> Map.of("theta", 3.0, "replicas", 1L);
          case 1 -> Map.of("theta", 3.0, "replicas", 3L);
          default -> Map.of("theta", 3.0);
        };
    plugins.add(new PluginConfig("both", "both", settings));
    if (kind % 4 != 0) {
      plugins.add(new PluginConfig("some", "some", Map.of()));
    }
    List<ModelConfig> models =
        List.of(
            new ModelConfig("critical", Criticality.CRITICAL, List.of()),
            new ModelConfig("standard", Criticality.STANDARD, List.of()),
            new ModelConfig("sheddable", Criticality.SHEDDABLE, List.of()));
    core.configure(
        now,
        new ConfigCompiler(List.of(factory("both", this::both), factory("some", p -> new Some())))
            .compile(
                new PoolConfig(
                    "default",
                    "pool",
                    Map.of("app", "vllm"),
                    List.of(8000),
                    "http",
                    models,
                    new SchedulerConfig(plugins, inTwo(kind, plugins), null))));
  }

  /** Of some configs: a prefill and a decode profile, one before the other or the other way. */
  private static List<ProfileConfig> inTwo(long kind, List<PluginConfig> plugins) {
    if (kind % 2 == 0) {
      return List.of();
    }
    Map<String, Object> settings =
        kind % 4 == 1
            ? Map.of("deciders", Map.of("prefill", "decider"))
            : Map.of("stageOrder", "prefill-first");
    List<PluginReference> all =
        plugins.stream().map(plugin -> new PluginReference(plugin.name(), 1)).toList();
    plugins.add(new PluginConfig("handler", "disagg-profile-handler", settings));
    plugins.add(
        new PluginConfig("decider", "prefix-based-pd-decider", Map.of("nonCachedTokens", 700L)));
    return List.of(new ProfileConfig("prefill", all), new ProfileConfig("decode", all));
  }

  private Plugin both(Parameters parameters) {
    WorkCostScorer columns = (WorkCostScorer) new WorkCostScorer.Factory().create(parameters);
    return new Both(
        columns,
        new PlainWorkCost(
            columns.settings(), columns.speeds(), columns::worth, columns::worthElsewhere));
  }

  private static PluginFactory factory(String type, Function<Parameters, Plugin> make) {
    return new PluginFactory() {
      @Override
      public String type() {
        return type;
      }

      @Override
      public Plugin create(Parameters parameters) {
        return make.apply(parameters);
      }
    };
  }

  /** Keeps names in the pool, changes incarnations and labels, and lets some come back. */
  private static List<EndpointSpec> specs(SplittableRandom random) {
    List<EndpointSpec> specs = new ArrayList<>();
    int count = random.nextInt(4) == 0 ? random.nextInt(3) : random.nextInt(150);
    for (int i = 0; i < count; i++) {
      int number = random.nextInt(10) == 0 ? 1_000 + i : i;
      String accelerator = HARDWARE.get(number % HARDWARE.size());
      specs.add(
          new EndpointSpec(
              "e" + number,
              random.nextInt(20) == 0 ? "2" : "1",
              "10.0.0.1",
              8000,
              labels(accelerator, number)));
    }
    return specs;
  }

  /** Names of some roles and racks are on all endpoints of those numbers. */
  private static Map<String, String> labels(String accelerator, int number) {
    Map<String, String> labels = new HashMap<>();
    labels.put("nvidia.com/gpu.product", accelerator);
    labels.put("kubernetes.io/hostname", "host-" + number / 2);
    labels.put("topology.kubernetes.io/rack", "rack-" + number / 8);
    if (number % 7 != 0) {
      labels.put("llm-d.ai/role", List.of("prefill", "decode", "both").get(number % 3));
    }
    return labels;
  }

  private static RequestFacts request(SplittableRandom random) {
    long[] blocks = new long[random.nextInt(200)];
    for (int b = 0; b < blocks.length; b++) {
      blocks[b] = (b == 0 ? 1 : blocks[b - 1] * 31) + (random.nextInt(20) == 0 ? 1 : 0);
    }
    int tokens = random.nextInt(50) == 0 ? 300_000 : blocks.length * 16 + random.nextInt(16);
    int output = random.nextBoolean() ? -1 : 1 + random.nextInt(500);
    String model = MODELS.get(random.nextInt(MODELS.size()));
    return RequestFactsBuilder.of(model, random.nextLong(), blocks)
        .tokens(tokens)
        .maxOutputTokens(output)
        .headers(objectives(random))
        .build();
  }

  /** Of every second request: some that every endpoint keeps, some that few or none do. */
  private static RequestHeaders objectives(SplittableRandom random) {
    Map<String, String> headers = new HashMap<>();
    if (random.nextInt(3) == 0) {
      headers.put("x-slo-ttft-ms", Integer.toString(1 << random.nextInt(16)));
    }
    if (random.nextInt(3) == 0) {
      headers.put("x-llm-d-slo-tpot-ms", Double.toString(0.5 + random.nextInt(60)));
    }
    return headers.isEmpty() ? RequestHeaders.NONE : headers::get;
  }

  private static Usage usage(SplittableRandom random) {
    int prompt = random.nextInt(3_000);
    return random.nextInt(3) == 0
        ? Usage.UNKNOWN
        : new Usage(prompt, random.nextInt(600), random.nextInt(prompt + 1));
  }

  private static EndpointMetrics scrape(SplittableRandom random) {
    int adapters = random.nextInt(3) == 0 ? 2 : -1;
    List<String> running =
        adapters > 0 && random.nextBoolean() ? List.of("critical", "other") : List.of();
    int blocks = random.nextInt(3) == 0 ? -1 : 500 + random.nextInt(20_000);
    // Most tell of nothing new but adapters.
    boolean queue = random.nextInt(4) == 0;
    return new EndpointMetrics(
        queue ? random.nextInt(5) : 1,
        random.nextInt(20),
        random.nextDouble(),
        16,
        queue ? blocks : -1,
        "standard",
        adapters,
        running,
        List.of(),
        Map.of());
  }

  @Override
  public void send(long request, Route route) {}

  @Override
  public void pass(long request) {}

  @Override
  public void reject(long request, Rejection rejection) {}

  /** Scores by the columns, and compares. */
  private final class Both implements Scorer, Observer {

    private final WorkCostScorer columns;
    private final PlainWorkCost plain;

    Both(WorkCostScorer columns, PlainWorkCost plain) {
      this.columns = columns;
      this.plain = plain;
    }

    @Override
    public void score(InferenceRequest request, Candidates candidates, double[] scores) {
      double[] expected = new double[candidates.size()];
      columns.score(request, candidates, scores);
      plain.score(request, candidates, expected);
      compareTerms(request, candidates, scores);
      for (int i = 0; i < expected.length; i++) {
        if (!(Math.abs(scores[i] - expected[i]) <= NEAR * expected[i])) {
          throw new AssertionError(
              "decision %d, candidate %d of %d: %s instead of %s"
                  .formatted(compared, i, expected.length, scores[i], expected[i]));
        }
      }
      compared++;
      inTwo += request.cycle().get(Peers.STAGE) == null ? 0 : 1;
    }

    /** The sum of the terms is the cost that is scored by: the least one over each. */
    private void compareTerms(InferenceRequest request, Candidates candidates, double[] scores) {
      int terms = columns.costTerms().size();
      double[] millis = new double[terms];
      double[] weights = new double[terms];
      double[] costs = new double[candidates.size()];
      double least = Double.POSITIVE_INFINITY;
      for (int i = 0; i < costs.length; i++) {
        columns.itemize(request, candidates, i, millis, weights);
        for (int t = 0; t < terms; t++) {
          costs[i] += millis[t] * weights[t];
        }
        least = Math.min(least, costs[i]);
      }
      for (int i = 0; i < costs.length; i++) {
        double score = least / costs[i];
        if (scores[i] < 1 && !(Math.abs(scores[i] - score) <= NEAR * score)) {
          throw new AssertionError(
              "decision %d, candidate %d of %d: score %s, but its terms come to %s"
                  .formatted(compared, i, costs.length, scores[i], score));
        }
      }
    }

    @Override
    public void joined(Endpoint endpoint) {
      columns.joined(endpoint);
    }

    @Override
    public void completed(Completion completion) {
      columns.completed(completion);
    }
  }

  /** Leaves out every third on most requests. */
  private static final class Some implements Filter {

    @Override
    public void filter(InferenceRequest request, Candidates candidates, boolean[] keep) {
      int kind = (int) request.draw(5, 5);
      for (int i = 0; i < candidates.size(); i++) {
        keep[i] = i % 3 != kind;
      }
    }
  }
}
