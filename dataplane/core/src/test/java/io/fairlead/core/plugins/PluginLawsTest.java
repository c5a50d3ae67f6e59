package io.fairlead.core.plugins;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.fairlead.core.view.Peers;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Picker;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What every registered plugin must keep to. */
class PluginLawsTest {

  private static final int ROUNDS = 200;

  private static final List<String> FIELDS =
      List.of(
          "algorithm",
          "attribute",
          "attributeKey",
          "conditions",
          "deciders",
          "fixedRange",
          "header",
          "headerName",
          "label",
          "loadFactor",
          "replication",
          "labelKey",
          "matchExpressions",
          "matchLabels",
          "max",
          "maxNumOfEndpoints",
          "maxValue",
          "metric",
          "min",
          "normalization",
          "operator",
          "key",
          "prefill",
          "profiles",
          "rules",
          "sessionIdConfig",
          "sources",
          "stageOrder",
          "strategy",
          "threshold",
          "type",
          "validValues",
          "value",
          "values");

  private static final List<String> WORDS =
      List.of(
          "",
          "x",
          "In",
          "role",
          "session_id",
          "linear_lower_is_better",
          "LessThan",
          "threshold",
          "prefill-first",
          "waiting-queue",
          "é\0",
          "99999999999999999999");

  /** Enough for those that can't be made without settings. */
  private static final Map<String, Map<String, Object>> SETTINGS =
      Map.ofEntries(
          Map.entry("priority-holdback-policy", Map.of("minCeiling", 0.5)),
          Map.entry("by-label", Map.of("label", "l", "validValues", List.of("v"))),
          Map.entry(
              "attribute-assigner",
              Map.of("attribute", "zone", "rules", List.of(Map.of("values", List.of("z"))))),
          Map.entry("by-label-selector", Map.of("matchLabels", Map.of("l", "v"))),
          Map.entry("label-selector-filter", Map.of("matchLabels", Map.of("l", "v"))),
          Map.entry(
              "utilization-filter",
              Map.of("conditions", List.of(Map.of("metric", "waiting-queue", "maxValue", 1L)))),
          Map.entry(
              "endpoint-attribute-filter",
              Map.of(
                  "attribute",
                  "a",
                  "algorithm",
                  Map.of("threshold", Map.of("operator", "LessThan", "value", 1L)))),
          Map.entry(
              "endpoint-attribute-scorer",
              Map.of("attributeKey", "a", "algorithm", Map.of("type", "linear_lower_is_better"))),
          Map.entry(
              "header-label-affinity-scorer",
              Map.of("headerName", "x-session-id", "labelKey", "l")),
          Map.entry("session-affinity-scorer", Map.of("strategy", "session_id")),
          Map.entry("context-length-aware", Map.of("enableFiltering", true)));

  static Stream<String> types() {
    return BuiltInPlugins.factories().stream().map(PluginFactory::type);
  }

  static Stream<String> typesOfTheHotPath() {
    // That one reads its header for each request; it is never meant for production.
    return types()
        .filter(type -> !type.equals("header-based-testing-filter"))
        .filter(type -> isHot(make(type)));
  }

  private static boolean isHot(Plugin plugin) {
    return plugin instanceof Scorer || plugin instanceof Filter || plugin instanceof Picker;
  }

  private static Plugin make(String type) {
    return Settings.make(Plugin.class, type, SETTINGS.getOrDefault(type, Map.of()));
  }

  @ParameterizedTest
  @MethodSource("typesOfTheHotPath")
  void nothingIsAllocatedPerEndpoint(String type) {
    Plugin plugin = make(type);
    Runnable few = run(plugin, 10);
    Runnable many = run(plugin, 2_000);
    few.run();
    many.run();
    long perRun = allocated(few) / ROUNDS;
    // What a request costs may be allocated, what an endpoint costs may not.
    assertThat(allocated(many) / ROUNDS).isLessThanOrEqualTo(perRun + 256);
  }

  private static long allocated(Runnable code) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < ROUNDS; i++) {
      code.run();
    }
    return threads.getCurrentThreadAllocatedBytes() - before;
  }

  private static Runnable run(Plugin plugin, int size) {
    TestCandidates candidates = new TestCandidates();
    for (int i = 0; i < size; i++) {
      TestEndpoint endpoint = new TestEndpoint("e" + i);
      endpoint.labels = Map.of("l", "v" + i % 3, "llm-d.ai/context-length-range", "0-" + i);
      endpoint.metrics.put("a", (double) i);
      endpoint.adapterSlots = 2;
      endpoint.baseModel = "base";
      endpoint.resident.add("a" + i % 5);
      candidates.add(endpoint);
      if (plugin instanceof Observer observer) {
        observer.joined(endpoint);
      }
    }
    TestRequest request = new TestRequest(1, 10);
    request.headers.put("x-session-id", "v1");
    request.put(Peers.PEER, candidates.get(0));
    double[] scores = new double[size];
    boolean[] keep = new boolean[size];
    int[] picked = new int[size];
    return () -> {
      if (plugin instanceof Scorer scorer) {
        scorer.score(request, candidates, scores);
      }
      if (plugin instanceof Filter filter) {
        Arrays.fill(keep, true);
        filter.filter(request, candidates, keep);
      }
      if (plugin instanceof Picker picker) {
        Arrays.fill(scores, 1);
        picker.pick(request, candidates, scores, picked);
      }
    };
  }

  /** Whatever a document says of a plugin, it is made or refused with the setting's name. */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void anySettingsAreTakenOrRefused(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int refused = 0;
    int made = 0;
    for (int round = 0; round < 2_000; round++) {
      for (PluginFactory factory : BuiltInPlugins.factories()) {
        Map<String, Object> settings = object(random, 3);
        try {
          factory.create(new Parameters(settings));
          made++;
        } catch (InvalidParameterException e) {
          assertThat(e.field()).as("%s with %s", factory.type(), settings).isNotEmpty();
          refused++;
        } catch (RuntimeException e) {
          throw new AssertionError(factory.type() + " with " + settings, e);
        }
      }
    }
    assertThat(made).isPositive();
    assertThat(refused).isPositive();
  }

  private static Map<String, Object> object(SplittableRandom random, int depth) {
    Map<String, Object> object = new HashMap<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      object.put(FIELDS.get(random.nextInt(FIELDS.size())), value(random, depth));
    }
    return object;
  }

  private static Object value(SplittableRandom random, int depth) {
    return switch (random.nextInt(depth > 0 ? 7 : 5)) {
      case 0 -> random.nextLong();
      case 1 -> (long) random.nextInt(10);
      case 2 -> random.nextBoolean() ? Double.NaN : random.nextDouble();
      case 3 -> random.nextBoolean();
      case 4 -> WORDS.get(random.nextInt(WORDS.size()));
      case 5 -> object(random, depth - 1);
      default -> {
        List<Object> list = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
          list.add(value(random, depth - 1));
        }
        yield list;
      }
    };
  }
}
