package io.fairlead.core.plugins;

import static io.fairlead.core.plugins.Settings.assertRefused;
import static io.fairlead.core.plugins.Settings.make;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.core.view.Peers;
import io.fairlead.plugin.EndpointAttributes;
import io.fairlead.plugin.Scorer;
import java.util.Arrays;
import java.util.Map;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

class ScorersTest {

  private static final double UNKNOWN = Double.NaN;

  private static Scorer queueScorer() {
    return make(Scorer.class, "queue-scorer");
  }

  @Test
  void queueIsRelativeToTheShortestAndTheLongest() {
    assertThat(scores(queueScorer(), TestCandidates.queues(2, 4, 10))).containsExactly(1, 0.75, 0);
    assertThat(scores(queueScorer(), TestCandidates.queues(3, 3))).containsExactly(1, 1);
    assertThat(scores(queueScorer(), TestCandidates.queues(7))).containsExactly(1);
  }

  @Test
  void queueCountsWhatWasSentButNotYetScraped() {
    TestCandidates candidates = new TestCandidates().add(0, 6, UNKNOWN, 0).add(3, 0, UNKNOWN, 0);
    assertThat(scores(queueScorer(), candidates)).containsExactly(0, 1);
  }

  @Test
  void kvCacheIsWhatIsFreeAndTheUnknownCountAsTheMean() {
    Scorer scorer = make(Scorer.class, "kv-cache-utilization-scorer");
    assertThat(scores(scorer, TestCandidates.usages(0, 0.25, 1))).containsExactly(1, 0.75, 0);
    assertThat(scores(scorer, TestCandidates.usages(0.5, UNKNOWN, 0)))
        .containsExactly(0.5, 0.75, 1);
    assertThat(scores(scorer, TestCandidates.usages(UNKNOWN, UNKNOWN))).containsExactly(0.5, 0.5);
  }

  @Test
  void prefixIsTheShareOfThePromptThatMatches() {
    Scorer scorer = make(Scorer.class, "prefix-cache-scorer");
    TestCandidates candidates =
        new TestCandidates().add(0, 0, 0, 0).add(0, 0, 0, 5).add(0, 0, 0, 10);
    assertThat(scores(scorer, candidates)).containsExactly(0, 0.5, 1);
    assertThat(scores(scorer, TestCandidates.queues(1), 0)).containsExactly(0);
  }

  @Test
  void prefixCanCountALongMatchForMore() {
    Scorer scorer =
        make(
            Scorer.class,
            "prefix-cache-scorer",
            Map.of("matchLengthWeight", 0.5, "matchLengthScaleTokens", 160L));
    TestCandidates candidates =
        new TestCandidates().add(0, 0, 0, 0).add(0, 0, 0, 5).add(0, 0, 0, 10);
    // (1 - w) share + w (tokens / scale)^2, a block being 16 tokens.
    assertThat(scores(scorer, candidates)).containsExactly(0, 0.25 + 0.5 * 0.25, 1);
    assertThat(scores(scorer, candidates, 1000)[2]).isEqualTo(0.005 + 0.5);
    assertRefused("prefix-cache-scorer", Map.of("matchLengthWeight", 2L), "matchLengthWeight");
  }

  @Test
  void runningIsTheLargerOfWhatTheServerSaidAndWhatDecodes() {
    TestCandidates candidates =
        each(
            3,
            (i, e) -> {
              e.running = new int[] {4, 0, 2}[i];
              e.inFlight = new int[] {0, 9, 2}[i];
              e.awaiting = new int[] {0, 3, 2}[i];
            });
    // 4, 6 and 2.
    assertThat(scores(make(Scorer.class, "running-requests-size-scorer"), candidates))
        .containsExactly(0.5, 0, 1);
    assertThat(scores(make(Scorer.class, "running-requests-size-scorer"), each(2, (i, e) -> {})))
        .containsExactly(1, 1);
  }

  @Test
  void tokenLoadIsThePromptLeftToComputeAgainstAThreshold() {
    TestCandidates candidates =
        each(4, (i, e) -> e.uncached = new long[] {0, 250, 1000, 1L << 40}[i]);
    assertThat(
            scores(
                make(Scorer.class, "token-load-scorer", Map.of("queueThresholdTokens", 1000L)),
                candidates))
        .containsExactly(1, 0.75, 0, 0);
    assertThat(scores(make(Scorer.class, "token-load-scorer"), candidates)[2])
        .isEqualTo(1 - 1000 / 4_194_304.0);
    assertRefused("token-load-scorer", Map.of("queueThresholdTokens", 0L), "queueThresholdTokens");
  }

  @Test
  void activeRequestsAreRelativeToTheMostAndIdleOnesAreBest() {
    TestCandidates candidates = each(3, (i, e) -> e.inFlight = new int[] {0, 2, 8}[i]);
    assertThat(scores(make(Scorer.class, "active-request-scorer"), candidates))
        .containsExactly(1, 0.75, 0);
    assertThat(
            scores(
                make(
                    Scorer.class,
                    "active-request-scorer",
                    Map.of("idleThreshold", 2L, "maxBusyScore", 0.5)),
                each(3, (i, e) -> e.inFlight = new int[] {2, 4, 8}[i])))
        .containsExactly(1, 0.25, 0);
    assertThat(scores(make(Scorer.class, "active-request-scorer"), each(2, (i, e) -> {})))
        .containsExactly(1, 1);
  }

  @Test
  void loadAwareHalvesWithTheQueueAgainstAThreshold() {
    assertThat(
            scores(
                make(Scorer.class, "load-aware-scorer"), TestCandidates.queues(0, 32, 128, 1000)))
        .containsExactly(0.5, 0.375, 0, 0);
  }

  @Test
  void loraPrefersLoadedThenRoomThenWhatIsIdle() {
    TestCandidates candidates =
        each(
            6,
            (i, e) -> {
              e.adapterSlots = 2;
              e.baseModel = "base";
              e.resident.add("x");
              switch (i) {
                case 0 -> e.resident.add("a");
                case 1 -> e.runningAdapters.add("a");
                case 2 -> e.resident.clear();
                case 3 -> {
                  e.resident.add("y");
                  e.runningAdapters.add("x");
                }
                case 4 -> {
                  e.resident.add("y");
                  e.runningAdapters.add("x");
                  e.runningAdapters.add("y");
                }
                default -> e.adapterSlots = 0;
              }
            });
    Scorer scorer = make(Scorer.class, "lora-affinity-scorer");
    TestRequest request = new TestRequest(1, 0);
    request.model = "any";
    request.targetModel = "a";
    assertThat(scores(scorer, candidates, request)).containsExactly(1, 1, 0.8, 0.6, 0, 0);
    request.targetModel = "base";
    assertThat(scores(scorer, candidates, request)).containsOnly(1);
  }

  @Test
  void loraCountsWaitingAsUpstreamDoes() {
    TestCandidates candidates =
        each(
            2,
            (i, e) -> {
              e.adapterSlots = 1;
              e.baseModel = "base";
              e.resident.add("x");
              e.runningAdapters.add("x");
              if (i == 0) {
                e.waitingAdapters.add("m");
              }
            });
    assertThat(scores(make(Scorer.class, "lora-affinity-scorer"), candidates))
        .containsExactly(0.6, 0);
  }

  @Test
  void contextLengthPrefersTightRangesWithRoom() {
    String[] labels = {"0-2048", "0-10000", "1000-1000", "2000-4000", "0-500", "x", ""};
    TestCandidates candidates =
        each(7, (i, e) -> e.labels = Map.of("llm-d.ai/context-length-range", labels[i]));
    candidates.add(new TestEndpoint("none"));
    TestRequest request = new TestRequest(1, 0);
    request.promptTokens = 1000;
    double[] scores = scores(make(Scorer.class, "context-length-aware"), candidates, request);
    assertThat(scores[0]).isCloseTo(0.3 + 0.7 * (0.7 / 1.2048 + 0.3 * 1048 / 2048), within(1e-12));
    assertThat(scores[1]).isCloseTo(0.3 + 0.7 * (0.7 / 2 + 0.3 * 0.9), within(1e-12));
    assertThat(scores[2]).isEqualTo(1);
    assertThat(scores[3]).isEqualTo(0.3 / 2);
    assertThat(scores[4]).isEqualTo(0.3 / 1.5);
    assertThat(scores).endsWith(0, 0, 0.5);
  }

  @Test
  void attributeIsPlacedBetweenTheEndsOfItsRange() {
    double[] values = {2, 4, 10, UNKNOWN, Double.POSITIVE_INFINITY};
    TestCandidates candidates = each(5, (i, e) -> e.metrics.put("gpu", values[i]));
    assertThat(scores(attribute("linear_lower_is_better", Map.of()), candidates))
        .containsExactly(1, 0.75, 0, 0, 0);
    assertThat(scores(attribute("linear_higher_is_better", Map.of()), candidates))
        .containsExactly(0, 0.25, 1, 0, 0);
    Map<String, Object> range = Map.of("fixedRange", Map.of("min", 0L, "max", 8L));
    assertThat(scores(attribute("linear_lower_is_better", range), candidates))
        .containsExactly(0.75, 0.5, 0, 0, 0);
    assertThat(scores(attribute("linear_lower_is_better", Map.of()), each(2, (i, e) -> {})))
        .containsExactly(0, 0);
    TestCandidates equal = each(2, (i, e) -> e.metrics.put("gpu", 3.0));
    assertThat(scores(attribute("linear_lower_is_better", Map.of()), equal)).containsExactly(1, 1);
  }

  @Test
  void attributeSettingsAreChecked() {
    String type = "endpoint-attribute-scorer";
    assertRefused(type, Map.of(), "attributeKey");
    assertRefused(type, Map.of("attributeKey", "k"), "algorithm.type");
    assertRefused(
        type, Map.of("attributeKey", "k", "algorithm", Map.of("type", "cubic")), "algorithm.type");
    assertRefused(
        type,
        attributeSettings(
            "linear_lower_is_better", Map.of("fixedRange", Map.of("min", 2L, "max", 1L))),
        "algorithm.normalization.fixedRange.max");
    assertRefused(
        type,
        attributeSettings(
            "linear_lower_is_better",
            Map.of("fixedRange", Map.of("max", 1L), "adaptiveRange", Map.of())),
        "algorithm.normalization.adaptiveRange");
  }

  @Test
  void labelThatTheHeaderAsksForScoresOne() {
    Scorer scorer =
        make(
            Scorer.class,
            "header-label-affinity-scorer",
            Map.of("headerName", "X-Tier", "labelKey", "tier"));
    TestCandidates candidates =
        each(3, (i, e) -> e.labels = i == 2 ? Map.of() : Map.of("tier", i == 0 ? "a" : "b"));
    TestRequest request = new TestRequest(1, 0);
    assertThat(scores(scorer, candidates, request)).containsExactly(0, 0, 0);
    request.headers.put("x-tier", "b");
    assertThat(scores(scorer, candidates, request)).containsExactly(0, 1, 0);
    request.headers.put("x-tier", "");
    assertThat(scores(scorer, candidates, request)).containsExactly(0, 0, 0);
    // A pod that is labelled anew counts with its new label at once.
    candidates.endpoint(0).labels = Map.of("tier", "b");
    request.headers.put("x-tier", "b");
    assertThat(scores(scorer, candidates, request)).containsExactly(1, 1, 0);
    assertRefused("header-label-affinity-scorer", Map.of("labelKey", "x"), "headerName");
    assertRefused("header-label-affinity-scorer", Map.of("headerName", "x"), "labelKey");
  }

  @Test
  void topologyIsHowNearTheOtherStageRuns() {
    Scorer scorer = make(Scorer.class, "topology-affinity-scorer");
    TestCandidates candidates =
        new TestCandidates()
            .add(at("z1", "r1", "h1"))
            .add(at("z1", "r1", "h2"))
            .add(at("z1", "r2", "h3"))
            .add(at("z2", "r1", "h4"))
            .add(at("", "", ""));
    TestRequest request = new TestRequest(1, 0);
    assertThat(scores(scorer, candidates, request)).containsOnly(0);
    request.put(Peers.PEER, candidates.get(0));
    assertThat(scores(scorer, candidates, request)).containsExactly(1, 0.2, 0.05, 0, 0);
    request.put(Peers.PEER, candidates.get(4));
    assertThat(scores(scorer, candidates, request)).containsOnly(0);
  }

  private static TestEndpoint at(String zone, String rack, String host) {
    TestEndpoint endpoint = new TestEndpoint(host);
    endpoint.attributes = new EndpointAttributes("", "", "", zone, rack, host);
    return endpoint;
  }

  private static Scorer attribute(String type, Map<String, Object> normalization) {
    return make(Scorer.class, "endpoint-attribute-scorer", attributeSettings(type, normalization));
  }

  private static Map<String, Object> attributeSettings(
      String type, Map<String, Object> normalization) {
    return Map.of(
        "attributeKey", "gpu", "algorithm", Map.of("type", type, "normalization", normalization));
  }

  private static TestCandidates each(int count, BiConsumer<Integer, TestEndpoint> setter) {
    TestCandidates candidates = new TestCandidates();
    for (int i = 0; i < count; i++) {
      TestEndpoint endpoint = new TestEndpoint("e" + i);
      setter.accept(i, endpoint);
      candidates.add(endpoint);
    }
    return candidates;
  }

  private static double[] scores(Scorer scorer, TestCandidates candidates) {
    return scores(scorer, candidates, 10);
  }

  private static double[] scores(Scorer scorer, TestCandidates candidates, int blocks) {
    return scores(scorer, candidates, new TestRequest(1, blocks));
  }

  private static double[] scores(Scorer scorer, TestCandidates candidates, TestRequest request) {
    double[] scores = new double[candidates.size()];
    Arrays.fill(scores, 77);
    scorer.score(request, candidates, scores);
    return scores;
  }
}
