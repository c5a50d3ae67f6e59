package io.fairlead.core.plugins;

import static io.fairlead.core.plugins.Settings.assertRefused;
import static io.fairlead.core.plugins.Settings.make;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.fairlead.core.view.Peers;
import io.fairlead.plugin.EndpointAttributes;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.SaturationDetector;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FiltersTest {

  private static final Map<String, Map<String, Object>> NEEDED =
      Map.of(
          "by-label", Map.of("label", "l", "validValues", List.of("v")),
          "by-label-selector", Map.of("matchLabels", Map.of("l", "v")),
          "label-selector-filter", Map.of("matchLabels", Map.of("l", "v")),
          "utilization-filter",
              Map.of("conditions", List.of(Map.of("metric", "waiting-queue", "maxValue", 1L))),
          "endpoint-attribute-filter", threshold("LessThan", 1));

  @Test
  void noFilterMindsAnEmptyListOrKeepsMoreThanThereIs() {
    List<String> seen = new ArrayList<>();
    for (PluginFactory factory : BuiltInPlugins.factories()) {
      Plugin plugin;
      try {
        plugin = factory.create(new Parameters(NEEDED.getOrDefault(factory.type(), Map.of())));
      } catch (IllegalArgumentException e) {
        continue;
      }
      if (plugin instanceof Filter filter) {
        seen.add(factory.type());
        assertThatCode(
                () -> filter.filter(new TestRequest(1, 0), new TestCandidates(), new boolean[0]))
            .as(factory.type())
            .doesNotThrowAnyException();
        boolean[] keep = {true, true, false};
        filter.filter(new TestRequest(1, 3), TestCandidates.queues(0, 9), keep);
        assertThat(keep[2]).as("beyond the candidates, by %s", factory.type()).isFalse();
      }
    }
    assertThat(seen)
        .containsExactly(
            "by-label",
            "by-label-selector",
            "concurrency-detector",
            "context-length-aware",
            "decode-filter",
            "endpoint-attribute-filter",
            "header-based-testing-filter",
            "label-selector-filter",
            "prefill-filter",
            "prefix-cache-affinity-filter",
            "session-affinity-filter",
            "topology-affinity-filter",
            "utilization-detector",
            "utilization-filter");
  }

  @Test
  void labelSelectorNeedsAllThatItAsksFor() {
    TestCandidates candidates =
        labelled(
            Map.of("tier", "a", "gpu", "h100"),
            Map.of("tier", "b", "gpu", "h100"),
            Map.of("tier", "a"),
            Map.of());
    assertThat(kept(selector("tier", "In", "a", "c"), candidates)).containsExactly(0, 2);
    assertThat(kept(selector("tier", "NotIn", "a"), candidates)).containsExactly(1, 3);
    assertThat(kept(selector("gpu", "Exists"), candidates)).containsExactly(0, 1);
    assertThat(kept(selector("gpu", "DoesNotExist"), candidates)).containsExactly(2, 3);
    Filter both =
        make(
            Filter.class,
            "by-label-selector",
            Map.of(
                "matchLabels",
                Map.of("tier", "a"),
                "matchExpressions",
                List.of(Map.of("key", "gpu", "operator", "Exists"))));
    assertThat(kept(both, candidates)).containsExactly(0);
  }

  @Test
  void labelSelectorSettingsAreChecked() {
    String type = "label-selector-filter";
    assertRefused(type, Map.of(), "matchLabels");
    assertRefused(type, expressions(Map.of("operator", "In")), "matchExpressions[0].key");
    assertRefused(
        type, expressions(Map.of("key", "k", "operator", "Like")), "matchExpressions[0].operator");
    assertRefused(
        type, expressions(Map.of("key", "k", "operator", "In")), "matchExpressions[0].values");
    assertRefused(
        type,
        expressions(Map.of("key", "k", "operator", "Exists", "values", List.of("v"))),
        "matchExpressions[0].values");
  }

  @Test
  void byLabelKeepsTheListedValues() {
    TestCandidates candidates = labelled(Map.of("l", "a"), Map.of("l", "b"), Map.of());
    Map<String, Object> settings = Map.of("label", "l", "validValues", List.of("a"));
    assertThat(kept(make(Filter.class, "by-label", settings), candidates)).containsExactly(0);
    Map<String, Object> without =
        Map.of("label", "l", "validValues", List.of("a"), "allowsNoLabel", true);
    assertThat(kept(make(Filter.class, "by-label", without), candidates)).containsExactly(0, 2);
    assertRefused("by-label", Map.of("validValues", List.of("a")), "label");
    assertRefused("by-label", Map.of("label", "l"), "validValues");
  }

  @Test
  void rolesSayWhoDecodesAndWhoPrefills() {
    List<String> roles =
        List.of(
            "decode",
            "prefill",
            "encode",
            "prefill-decode",
            "encode-prefill",
            "encode-prefill-decode",
            "both",
            "",
            "cook");
    TestCandidates candidates = new TestCandidates();
    for (String role : roles) {
      TestEndpoint endpoint = new TestEndpoint(role);
      endpoint.attributes = new EndpointAttributes(role, "", "", "", "", "");
      candidates.add(endpoint);
    }
    assertThat(names(make(Filter.class, "decode-filter"), candidates))
        .containsExactly("decode", "prefill-decode", "encode-prefill-decode", "both", "");
    assertThat(names(make(Filter.class, "prefill-filter"), candidates))
        .containsExactly(
            "prefill", "prefill-decode", "encode-prefill", "encode-prefill-decode", "both");
    candidates.endpoint(1).attributes = candidates.endpoint(0).attributes;
    assertThat(names(make(Filter.class, "decode-filter"), candidates)).contains("prefill");
  }

  @Test
  void topologyKeepsWhatIsNearTheOtherStage() {
    TestCandidates candidates = new TestCandidates();
    for (String at : List.of("z1 r1 h1", "z1 r1 h2", "z1 r2 h3", "z2 r1 h4", "z3 r3 h5")) {
      String[] place = at.split(" ", 3);
      TestEndpoint endpoint = new TestEndpoint(at);
      endpoint.attributes = new EndpointAttributes("", "", "", place[0], place[1], place[2]);
      candidates.add(endpoint);
    }
    TestRequest request = new TestRequest(1, 0);
    assertThat(kept(topology("host"), candidates, request)).hasSize(5);
    request.put(Peers.PEER, candidates.get(0));
    assertThat(kept(topology("host"), candidates, request)).containsExactly(0);
    assertThat(kept(topology("rack"), candidates, request)).containsExactly(0, 1);
    assertThat(kept(topology("zone"), candidates, request)).containsExactly(0, 1, 2);
    TestEndpoint nowhere = new TestEndpoint("nowhere");
    nowhere.slot = 9;
    request.put(Peers.PEER, nowhere);
    assertThat(kept(topology("zone"), candidates, request)).hasSize(5);
    assertRefused("topology-affinity-filter", Map.of("minAffinity", "region"), "minAffinity");
  }

  private static Filter topology(String least) {
    return make(Filter.class, "topology-affinity-filter", Map.of("minAffinity", least));
  }

  @Test
  void utilizationTakesOutWhatIsAboveAnyLimit() {
    TestCandidates candidates = new TestCandidates();
    for (int i = 0; i < 4; i++) {
      TestEndpoint endpoint = new TestEndpoint("e" + i);
      endpoint.inFlight = i;
      endpoint.kvUsage = new double[] {0.95, Double.NaN, 0.9, 0.1}[i];
      candidates.add(endpoint);
    }
    Map<String, Object> active = Map.of("metric", "active-requests", "maxValue", 2L);
    Map<String, Object> kv = Map.of("metric", "kv-cache-utilization", "maxValue", 0.9);
    assertThat(kept(utilization(false, active, kv), candidates)).containsExactly(1, 2);
    Map<String, Object> nobody = Map.of("metric", "active-requests", "maxValue", 0L);
    assertThat(kept(utilization(false, nobody, kv), candidates)).isEmpty();
    assertThat(kept(utilization(true, nobody, kv), candidates)).containsExactly(0, 1, 2, 3);
    assertRefused("utilization-filter", Map.of(), "conditions");
    assertRefused(
        "utilization-filter",
        Map.of("conditions", List.of(Map.of("metric", "mood", "maxValue", 1L))),
        "conditions[0].metric");
    assertRefused(
        "utilization-filter",
        Map.of("conditions", List.of(Map.of("metric", "waiting-queue"))),
        "conditions[0].maxValue");
  }

  @Test
  void attributeIsComparedAsConfigured() {
    TestCandidates candidates = new TestCandidates();
    for (double value : new double[] {1, 2, 3, Double.NaN}) {
      TestEndpoint endpoint = new TestEndpoint("e" + value);
      endpoint.metrics.put("gpu", value);
      candidates.add(endpoint);
    }
    Map<String, int[]> expected =
        Map.of(
            "LessThan", new int[] {0, 3},
            "LessThanOrEqual", new int[] {0, 1, 3},
            "GreaterThan", new int[] {2, 3},
            "GreaterThanOrEqual", new int[] {1, 2, 3},
            "Equal", new int[] {1, 3},
            "NotEqual", new int[] {0, 2, 3});
    expected.forEach(
        (operator, kept) ->
            assertThat(
                    kept(
                        make(Filter.class, "endpoint-attribute-filter", threshold(operator, 2)),
                        candidates))
                .as(operator)
                .containsExactly(Arrays.stream(kept).boxed().toArray(Integer[]::new)));
    Map<String, Object> strict = new HashMap<>(threshold("LessThan", 0));
    strict.put("onMissing", "Fail");
    assertThat(kept(make(Filter.class, "endpoint-attribute-filter", strict), candidates)).isEmpty();
    strict.put("fallbackOnEmpty", true);
    assertThat(kept(make(Filter.class, "endpoint-attribute-filter", strict), candidates))
        .hasSize(4);
    assertRefused(
        "endpoint-attribute-filter", Map.of("attribute", "a"), "algorithm.threshold.operator");
  }

  @Test
  void stickyKeepsHoldersUnlessTheyAreTooFarBehind() {
    Filter filter =
        make(
            Filter.class,
            "prefix-cache-affinity-filter",
            Map.of("peakPrefillThroughput", 1000L, "maxTTFTPenaltyMs", 500L));
    // 10 blocks are 160 tokens: 160 ms of prefill where nothing is cached.
    assertThat(kept(filter, holders(0, 0, 0), 10)).containsExactly(0, 1);
    // The better holder has 500 + 32 tokens to do, the others 160: 372 ms more.
    assertThat(kept(filter, holders(900, 500, 0), 10)).containsExactly(0, 1);
    // 700 + 32 against 160: 572 ms.
    assertThat(kept(filter, holders(900, 700, 0), 10)).containsExactly(0, 1, 2);
    // Everybody is as busy.
    assertThat(kept(filter, holders(900, 700, 700), 10)).containsExactly(0, 1);
    // Nobody holds enough of a longer prompt.
    assertThat(kept(filter, holders(0, 0, 0), 100)).containsExactly(0, 1, 2);
    assertThat(kept(filter, holders(0, 0, 0), 0)).containsExactly(0, 1, 2);
  }

  @Test
  void stickyExploresAsOftenAsConfigured() {
    Filter filter =
        make(Filter.class, "prefix-cache-affinity-filter", Map.of("explorationProbability", 0.1));
    int explored = 0;
    for (int seed = 0; seed < 10_000; seed++) {
      boolean[] keep = {true, true, true};
      filter.filter(new TestRequest(seed, 10), holders(0, 0, 0), keep);
      explored += keep[2] ? 1 : 0;
    }
    assertThat(explored).isBetween(850, 1150);
    assertRefused(
        "prefix-cache-affinity-filter", Map.of("ttftSource", "latencyPredictor"), "ttftSource");
    assertRefused("prefix-cache-affinity-filter", Map.of("ttftSource", "guess"), "ttftSource");
  }

  @Test
  void concurrencyCountsWhatIsInFlight() {
    TestCandidates candidates = new TestCandidates();
    for (int i = 0; i < 3; i++) {
      TestEndpoint endpoint = new TestEndpoint("e" + i);
      endpoint.inFlight = i * 5;
      endpoint.tokens = new long[] {3000, 100, 0}[i];
      candidates.add(endpoint);
    }
    assertThat(kept(concurrency("requests", 0), candidates)).containsExactly(0, 1);
    assertThat(kept(concurrency("tokens", 0), candidates)).containsExactly(1, 2);
    assertThat(kept(concurrency("hybrid", 0), candidates)).containsExactly(1);
    assertThat(kept(concurrency("requests", 0.5), candidates)).containsExactly(0, 1, 2);
    SaturationDetector hybrid = (SaturationDetector) concurrency("hybrid", 0);
    assertThat(hybrid.saturation(candidates.get(0))).isEqualTo(1.5);
    assertThat(hybrid.saturation(candidates.get(1))).isEqualTo(0.5);
    assertThat(make(SaturationDetector.class, "concurrency-detector").saturation(candidates.get(1)))
        .isEqualTo(0.05);
  }

  @Test
  void testingHeaderListsWhoIsKept() {
    Filter filter = make(Filter.class, "header-based-testing-filter");
    TestCandidates candidates = new TestCandidates();
    for (String address : List.of("10.0.0.1", "10.0.0.11", "fd00::1")) {
      TestEndpoint endpoint = new TestEndpoint(address);
      endpoint.address = address;
      candidates.add(endpoint);
    }
    Map<String, List<Integer>> expected =
        Map.of(
            "10.0.0.1", List.of(0),
            "10.0.0.11:8000, 10.0.0.1", List.of(0, 1),
            "10.0.0.11:8001", List.of(),
            "fd00::1", List.of(2),
            "[fd00::1]:8000", List.of(2),
            "[fd00::1", List.of(),
            ",", List.of());
    expected.forEach(
        (header, kept) -> {
          TestRequest request = new TestRequest(1, 0);
          request.headers.put("test-epp-endpoint-selection", header);
          assertThat(kept(filter, candidates, request)).as(header).isEqualTo(kept);
        });
    assertThat(kept(filter, candidates)).isEmpty();
  }

  @Test
  void contextLengthFiltersOnlyWhenAsked() {
    TestCandidates candidates =
        labelled(
            Map.of("len", "0-100"), Map.of("len", "100-9000"), Map.of("len", "oops"), Map.of());
    Map<String, Object> settings = Map.of("label", "len", "enableFiltering", true);
    TestRequest request = new TestRequest(1, 10);
    assertThat(kept(make(Filter.class, "context-length-aware", settings), candidates, request))
        .containsExactly(1, 3);
    assertThat(
            kept(
                make(Filter.class, "context-length-aware", Map.of("label", "len")),
                candidates,
                request))
        .hasSize(4);
  }

  private static TestCandidates holders(long... waiting) {
    TestCandidates candidates = new TestCandidates();
    for (int i = 0; i < waiting.length; i++) {
      TestEndpoint endpoint = new TestEndpoint("e" + i);
      endpoint.uncached = waiting[i];
      endpoint.matched = i < 2 ? 8 : 0;
      candidates.add(endpoint);
    }
    return candidates;
  }

  private static Filter concurrency(String mode, double headroom) {
    return make(
        Filter.class,
        "concurrency-detector",
        Map.of(
            "concurrencyMode",
            mode,
            "maxConcurrency",
            10L,
            "maxTokenConcurrency",
            2000L,
            "headroom",
            headroom));
  }

  private static Filter utilization(
      boolean fallBack, Map<String, Object> first, Map<String, Object> second) {
    return make(
        Filter.class,
        "utilization-filter",
        Map.of("conditions", List.of(first, second), "fallbackOnEmpty", fallBack));
  }

  private static Map<String, Object> threshold(String operator, long value) {
    return Map.of(
        "attribute",
        "gpu",
        "algorithm",
        Map.of("type", "threshold", "threshold", Map.of("operator", operator, "value", value)));
  }

  private static Filter selector(String key, String operator, String... values) {
    return make(
        Filter.class,
        "label-selector-filter",
        expressions(Map.of("key", key, "operator", operator, "values", List.of(values))));
  }

  private static Map<String, Object> expressions(Map<String, Object> expression) {
    return Map.of("matchExpressions", List.of(expression));
  }

  @SafeVarargs
  private static TestCandidates labelled(Map<String, String>... labels) {
    TestCandidates candidates = new TestCandidates();
    for (Map<String, String> each : labels) {
      TestEndpoint endpoint = new TestEndpoint("e");
      endpoint.labels = each;
      candidates.add(endpoint);
    }
    return candidates;
  }

  private static List<String> names(Filter filter, TestCandidates candidates) {
    return kept(filter, candidates).stream().map(i -> candidates.get(i).name()).toList();
  }

  private static List<Integer> kept(Filter filter, TestCandidates candidates) {
    return kept(filter, candidates, 10);
  }

  private static List<Integer> kept(Filter filter, TestCandidates candidates, int blocks) {
    return kept(filter, candidates, new TestRequest(1, blocks));
  }

  private static List<Integer> kept(Filter filter, TestCandidates candidates, TestRequest request) {
    boolean[] keep = new boolean[candidates.size() + 1];
    Arrays.fill(keep, 0, candidates.size(), true);
    filter.filter(request, candidates, keep);
    List<Integer> kept = new ArrayList<>();
    for (int i = 0; i < keep.length; i++) {
      if (keep[i]) {
        kept.add(i);
      }
    }
    return kept;
  }
}
