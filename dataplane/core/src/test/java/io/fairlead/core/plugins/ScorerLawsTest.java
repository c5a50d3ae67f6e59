package io.fairlead.core.plugins;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.core.view.Peers;
import io.fairlead.plugin.EndpointAttributes;
import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import io.fairlead.plugin.Setting;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What every scorer must keep to, whatever the endpoints are like. */
class ScorerLawsTest {

  private static final int ROUNDS = 3_000;
  private static final double UNTOUCHED = 77;
  private static final Plugin NO_SCORER = new Setting() {};

  private static final HeaderWriter NOWHERE =
      new HeaderWriter() {
        @Override
        public void request(String name, String value) {}

        @Override
        public void response(String name, String value) {}
      };

  /** Settings of those types that do nothing, or can't be made, without. */
  private static final Map<String, Map<String, Object>> SETTINGS =
      Map.of(
          "endpoint-attribute-scorer",
          Map.of("attributeKey", "a", "algorithm", Map.of("type", "linear_lower_is_better")),
          "header-label-affinity-scorer",
          Map.of("headerName", "x-session-id", "labelKey", "l"),
          "session-affinity-scorer",
          Map.of("strategy", "session_id"),
          "prefix-cache-scorer",
          Map.of("matchLengthWeight", 0.3));

  /** Every registered scorer with every one of a few seeds. */
  static Stream<Object[]> scorers() {
    return BuiltInPlugins.factories().stream()
        .filter(factory -> make(factory) instanceof Scorer)
        .flatMap(f -> Stream.of(1L, 2L, 3L).map(seed -> new Object[] {f.type(), seed}));
  }

  private static Plugin make(PluginFactory factory) {
    try {
      return factory.create(new Parameters(SETTINGS.getOrDefault(factory.type(), Map.of())));
    } catch (IllegalArgumentException e) {
      // A type that needs settings; a scorer among them has some above.
      return NO_SCORER;
    }
  }

  @ParameterizedTest(name = "{0}, seed {1}")
  @MethodSource("scorers")
  void scoresAreSoundAndDoNotDependOnTheOrder(String type, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    // The same type twice: one never sees the other order, so that neither's memory helps.
    Scorer scorer = (Scorer) make(Settings.factory(type));
    Scorer twin = (Scorer) make(Settings.factory(type));
    TestCandidates pool = pool(random);
    for (int round = 0; round < ROUNDS; round++) {
      if (random.nextInt(50) == 0) {
        pool = pool(random);
        for (int i = 0; i < pool.size(); i++) {
          joined(scorer, pool.endpoint(i));
          joined(twin, pool.endpoint(i));
        }
      }
      TestCandidates candidates = pool.shuffled(random);
      TestCandidates others = candidates.shuffled(random);
      String before = describe(candidates);

      TestRequest request = request(random, candidates);
      TestRequest same = request.copy();
      double[] scores = scores(scorer, request, candidates);
      Map<String, Double> byName = byName(candidates, scores);

      assertThat(byName.values())
          .as("in round %d", round)
          .allMatch(score -> score >= 0 && score <= 1);
      byName(others, scores(twin, same, others))
          .forEach(
              (name, score) ->
                  // Sums differ in their last bit by the order of their terms.
                  assertThat(score)
                      .as("%s in another order", name)
                      .isCloseTo(byName.get(name), within(1e-12)));
      assertThat(describe(candidates)).isEqualTo(before);

      if (candidates.size() > 0) {
        TestEndpoint chosen = candidates.endpoint(random.nextInt(candidates.size()));
        dispatched(scorer, request, chosen);
        dispatched(twin, same, chosen);
      }
    }
  }

  private static double[] scores(Scorer scorer, TestRequest request, TestCandidates candidates) {
    double[] scores = new double[candidates.size() + 2];
    Arrays.fill(scores, UNTOUCHED);
    scorer.score(request, candidates, scores);
    assertThat(scores).endsWith(UNTOUCHED, UNTOUCHED);
    return Arrays.copyOf(scores, candidates.size());
  }

  private static void joined(Scorer scorer, TestEndpoint endpoint) {
    if (scorer instanceof Observer observer) {
      observer.joined(endpoint);
    }
  }

  private static void dispatched(Scorer scorer, TestRequest request, TestEndpoint endpoint) {
    if (scorer instanceof Observer observer) {
      observer.dispatched(request, endpoint, NOWHERE);
    }
  }

  private static Map<String, Double> byName(TestCandidates candidates, double[] scores) {
    Map<String, Double> byName = new HashMap<>();
    for (int i = 0; i < scores.length; i++) {
      byName.put(candidates.get(i).name(), scores[i]);
    }
    return byName;
  }

  private static TestRequest request(SplittableRandom random, TestCandidates candidates) {
    TestRequest request = new TestRequest(random.nextLong(), 30 + random.nextInt(40));
    // Nobody holds more of a prompt than it has, nor its last token.
    int held = 0;
    for (int i = 0; i < candidates.size(); i++) {
      held = Math.max(held, candidates.cachedTokens(i));
    }
    boolean isEmpty = held == 0 && random.nextInt(10) == 0;
    request.promptTokens = isEmpty ? 0 : held + 1 + random.nextInt(200_000);
    request.model = "m" + random.nextInt(4);
    request.now = random.nextLong(1L << 40);
    if (random.nextBoolean()) {
      request.headers.put("x-session-id", "s" + random.nextInt(5));
    }
    if (random.nextBoolean() && candidates.size() > 0) {
      request.put(Peers.PEER, candidates.get(random.nextInt(candidates.size())));
    }
    return request;
  }

  private static TestCandidates pool(SplittableRandom random) {
    int size = random.nextInt(12);
    TestCandidates candidates = new TestCandidates();
    for (int i = 0; i < size; i++) {
      candidates.add(endpoint("e" + i, random));
    }
    return candidates;
  }

  private static TestEndpoint endpoint(String name, SplittableRandom random) {
    List<Double> odd = List.of(Double.NaN, 0.0, 1.0, -1.0, Double.POSITIVE_INFINITY, 1e300);
    TestEndpoint endpoint = new TestEndpoint(name);
    endpoint.waiting = random.nextInt(3) == 0 ? Integer.MAX_VALUE : random.nextInt(20);
    endpoint.running = random.nextInt(100);
    endpoint.awaiting = random.nextInt(5);
    endpoint.inFlight = endpoint.awaiting + random.nextInt(50);
    endpoint.uncached = random.nextInt(4) == 0 ? Long.MAX_VALUE : random.nextInt(100_000);
    endpoint.kvUsage = random.nextBoolean() ? random.nextDouble() : Double.NaN;
    endpoint.matched = random.nextInt(20) == 0 ? random.nextInt(30) : 0;
    endpoint.adapterSlots = random.nextInt(3);
    endpoint.baseModel = "m0";
    for (int i = 0; i < endpoint.adapterSlots; i++) {
      endpoint.resident.add("m" + random.nextInt(4));
    }
    endpoint.metrics.put("a", odd.get(random.nextInt(odd.size())));
    String range = random.nextInt(5_000) + "-" + random.nextInt(200_000);
    endpoint.labels = Map.of("l", "s" + random.nextInt(3), "llm-d.ai/context-length-range", range);
    endpoint.attributes =
        new EndpointAttributes(
            "", "", "", "z" + random.nextInt(2), "r" + random.nextInt(3), "h" + random.nextInt(5));
    return endpoint;
  }

  private static String describe(TestCandidates candidates) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < candidates.size(); i++) {
      TestEndpoint e = candidates.endpoint(i);
      text.append(e.name()).append(e.waiting).append(e.inFlight).append(e.labels);
      text.append(e.resident).append(e.metrics).append(e.attributes).append('\n');
    }
    return text.toString();
  }
}
