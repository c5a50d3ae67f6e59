package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.TruthModel.Live;
import io.fairlead.core.TruthModel.Server;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random events against {@link TruthModel}; a failure names its seed. */
class PoolCorePropertyTest {

  private static final int EVENTS = 60_000;
  private static final int QUIESCE_EVERY = 250;
  private static final List<String> MODELS = List.of("", "critical", "split", "unknown");
  private static final List<Outcome> OUTCOMES = List.of(Outcome.values());
  private static final List<Criticality> CRITICALITIES = List.of(Criticality.values());

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 42, 20_261_121})
  void accountsEqualTheTruth(long seed) {
    Run run = new Run(seed);
    for (int i = 1; i <= EVENTS; i++) {
      run.step();
      if (i % QUIESCE_EVERY == 0) {
        run.compare();
      }
    }
    assertThat(run.truth.effects).as("the run did something").hasSizeGreaterThan(EVENTS / 10);
    run.drain();
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {7, 8})
  void sameEventsSameEffects(long seed) {
    Run one = new Run(seed);
    Run other = new Run(seed);
    for (int i = 0; i < 10_000; i++) {
      one.step();
    }
    for (int i = 0; i < 10_000; i++) {
      other.step();
    }
    assertThat(one.truth.effects).isEqualTo(other.truth.effects);
    assertThat(one.core.snapshot()).isEqualTo(other.core.snapshot());
  }

  /** One core with its truth, driven from a seed. */
  private static final class Run {
    final SplittableRandom random;
    final int retries;
    final PoolCore core;
    final TruthModel truth;
    final List<Long> over = new ArrayList<>();
    final int[] incarnations = new int[8];
    long now;
    private int steps;

    Run(long seed) {
      random = new SplittableRandom(seed);
      retries = random.nextInt(3);
      core = new PoolCore(new PoolLimits(retries, 40, 400, 1 << 20));
      truth = new TruthModel(retries);
    }

    void step() {
      now += random.nextInt(1000);
      // Busy and quiet times take turns, so that endpoints fill up and run empty.
      int arrivals = steps++ / 1000 % 2 == 0 ? 400 : 200;
      int kind = random.nextInt(1000);
      if (kind < arrivals) {
        arrive();
      } else if (kind < arrivals + 200) {
        firstToken(anyTicket());
      } else if (kind < 850) {
        end(anyTicket());
      } else if (kind < 930) {
        attemptFailed(anyTicket());
      } else if (kind < 980) {
        scrape();
      } else if (kind < 995) {
        endpoints();
      } else {
        configure();
      }
    }

    void arrive() {
      long[] blocks = new long[random.nextInt(60)];
      long chain = random.nextInt(5);
      for (int i = 0; i < blocks.length; i++) {
        chain = chain * 31 + 7 + (random.nextInt(20) == 0 ? random.nextInt(3) : 0);
        blocks[i] = chain;
      }
      String model = MODELS.get(random.nextInt(MODELS.size()));
      RequestFacts facts =
          new RequestFacts(model, random.nextLong(), blocks, blocks.length * 16, -1, 0);
      Live request = new Live(facts);
      truth.expectDecision(request);
      long ticket = core.arrive(now, facts, truth);
      truth.expectDecided();
      if (!truth.live.containsKey(ticket)) {
        over.add(ticket);
      }
    }

    void firstToken(long ticket) {
      Live request = truth.live.get(ticket);
      if (request != null) {
        request.firstToken = true;
      }
      core.firstToken(now, ticket);
    }

    void end(long ticket) {
      Live request = truth.live.remove(ticket);
      if (request != null) {
        truth.leave(request);
        over.add(ticket);
      }
      Outcome outcome = OUTCOMES.get(random.nextInt(3));
      core.ended(now, ticket, outcome, Usage.UNKNOWN);
      if (random.nextInt(10) == 0) {
        core.ended(now, ticket, outcome, Usage.UNKNOWN);
      }
    }

    void attemptFailed(long ticket) {
      Live request = truth.live.get(ticket);
      if (request != null) {
        truth.leave(request);
        truth.expectDecision(request);
      }
      core.attemptFailed(now, ticket);
      truth.expectDecided();
      if (request != null && !truth.live.containsKey(ticket)) {
        over.add(ticket);
      }
    }

    void scrape() {
      String name = "e" + random.nextInt(incarnations.length);
      EndpointMetrics metrics =
          switch (random.nextInt(4)) {
            case 0 -> EndpointMetrics.UNKNOWN;
            case 1 -> new EndpointMetrics(random.nextInt(8), 1, Double.NaN, -1, -1);
            default ->
                new EndpointMetrics(
                    random.nextInt(3), 1, random.nextDouble(), 16, random.nextInt(500));
          };
      int number = Integer.parseInt(name.substring(1));
      EndpointSpec scraped = Pool.endpoint(name, "i" + (incarnations[number] - random.nextInt(2)));
      long begunAt = now - random.nextInt(5_000);
      Server server = truth.eligible.get(name);
      if (server != null && server.spec.equals(scraped) && begunAt >= server.since) {
        server.metrics = metrics;
      }
      core.scraped(now, scraped, begunAt, metrics);
    }

    void endpoints() {
      List<EndpointSpec> specs = new ArrayList<>();
      for (int i = 0; i < incarnations.length; i++) {
        if (random.nextInt(12) == 0) {
          incarnations[i]++;
        }
        if (random.nextInt(4) != 0) {
          specs.add(Pool.endpoint("e" + i, "i" + incarnations[i]));
        }
      }
      if (random.nextInt(20) == 0) {
        specs.clear();
      }
      truth.endpoints(now, specs);
      core.endpoints(now, specs);
    }

    void configure() {
      truth.configured = true;
      truth.models.clear();
      List<ModelConfig> models = new ArrayList<>();
      models.add(Pool.model("critical", Criticality.CRITICAL));
      if (random.nextBoolean()) {
        models.add(
            Pool.model(
                "split",
                CRITICALITIES.get(random.nextInt(3)),
                new TargetModel("one", 1 + random.nextInt(9)),
                new TargetModel("two", 1)));
      }
      models.forEach(m -> truth.models.put(m.name(), m.criticality()));
      List<PluginConfig> plugins =
          IntStream.of(0, 1)
              .mapToObj(i -> List.of("truth-scorer", "queue-scorer").get(i))
              .map(type -> new PluginConfig(type, type, Map.of()))
              .toList();
      core.configure(
          now,
          new ConfigCompiler(List.of(new TruthScorer(truth)))
              .compile(
                  Pool.config(
                      random.nextInt(3) == 0
                          ? SchedulerConfig.DEFAULT
                          : new SchedulerConfig(plugins, List.of(), null),
                      models.toArray(ModelConfig[]::new))));
    }

    void compare() {
      assertThat(core.active()).isEqualTo(truth.live.size());
      assertThat(core.ready()).isEqualTo(truth.configured && !truth.eligible.isEmpty());
      assertThat(TruthModel.withoutMatches(core.snapshot())).isEqualTo(truth.snapshot());
    }

    void drain() {
      List.copyOf(truth.live.keySet()).forEach(this::end);
      compare();
      assertThat(core.active()).isZero();
      assertThat(core.snapshot())
          .allMatch(s -> s.inFlight() == 0 && s.awaitingFirstToken() == 0 && !s.leaving());
    }

    /** Mostly a live ticket, sometimes one that is over, sometimes none that ever was. */
    long anyTicket() {
      int kind = random.nextInt(20);
      if (kind == 0) {
        return random.nextLong();
      }
      if (kind <= 2 && !over.isEmpty()) {
        return over.get(random.nextInt(over.size()));
      }
      if (truth.live.isEmpty()) {
        return 0;
      }
      int skip = random.nextInt(Math.min(truth.live.size(), 32));
      return truth.live.keySet().stream().skip(skip).findFirst().orElseThrow();
    }
  }

  /** Checks what plugins are shown against the truth. */
  private record TruthScorer(TruthModel truth) implements PluginFactory {

    @Override
    public String type() {
      return "truth-scorer";
    }

    @Override
    public Scorer create(Parameters parameters) {
      return this::check;
    }

    private void check(InferenceRequest request, Candidates candidates, double[] scores) {
      for (int i = 0; i < candidates.size(); i++) {
        Endpoint shown = candidates.get(i);
        Server server = truth.eligible.get(shown.name());
        if (server == null
            || shown.inFlight() != server.inFlight.size()
            || shown.awaitingFirstToken() != server.awaiting()
            || shown.inFlightTokens() != server.tokens()
            || candidates.matchedBlocks(i) < 0
            || candidates.matchedBlocks(i) > request.blockCount()) {
          throw new AssertionError("wrong account shown of " + shown.name());
        }
        scores[i] = 1;
      }
    }
  }
}
