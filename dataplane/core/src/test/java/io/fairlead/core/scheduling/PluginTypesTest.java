package io.fairlead.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.plugins.BuiltInPlugins;
import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.PluginFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Every plugin type that upstream has is there, built in or refused, as docs/plugins.md says. */
class PluginTypesTest {

  private static final Pattern CODE = Pattern.compile("`([A-Za-z][A-Za-z0-9]*)`");

  /** What both of upstream's releases know. */
  private static final List<String> UPSTREAM =
      List.of(
          // scorers
          "active-request-scorer",
          "context-length-aware",
          "endpoint-attribute-scorer",
          "header-label-affinity-scorer",
          "kv-cache-utilization-scorer",
          "latency-scorer",
          "load-aware-scorer",
          "lora-affinity-scorer",
          "mm-embeddings-cache-scorer",
          "no-hit-lru-scorer",
          "precise-prefix-cache-scorer",
          "predicted-latency-scorer",
          "prefix-cache-scorer",
          "queue-scorer",
          "running-requests-size-scorer",
          "session-affinity-scorer",
          "token-load-scorer",
          "topology-affinity-scorer",
          // filters, detectors, pickers
          "by-label",
          "by-label-selector",
          "concurrency-detector",
          "decode-filter",
          "encode-filter",
          "endpoint-attribute-filter",
          "header-based-testing-filter",
          "label-selector-filter",
          "max-score-picker",
          "prefill-filter",
          "prefix-cache-affinity-filter",
          "random-picker",
          "session-affinity-filter",
          "slo-headroom-tier-filter",
          "topology-affinity-filter",
          "utilization-detector",
          "utilization-filter",
          "weighted-random-picker",
          // profile handlers and what goes with them
          "always-disagg-multimodal-decider",
          "always-disagg-pd-decider",
          "data-parallel-profile-handler",
          "disagg-headers-handler",
          "disagg-profile-handler",
          "header-profile-handler",
          "pd-profile-handler",
          "prefill-header-handler",
          "prefix-based-pd-decider",
          "single-profile-handler",
          // producers, admission, request control
          "agent-identity",
          "approx-prefix-cache-producer",
          "burst-prefix-cache-producer",
          "disaggregatedset-rollout-screener",
          "inflight-load-producer",
          "latency-slo-admitter",
          "mm-embeddings-cache-producer",
          "p2p-source-producer",
          "precise-prefix-cache-producer",
          "predicted-latency-producer",
          "probabilistic-admitter",
          "request-attribute-reporter",
          "session-id-producer",
          "token-producer",
          // data layer
          "core-metrics-extractor",
          "dcgm-data-source",
          "dcgm-extractor",
          "endpoint-notification-source",
          "file-discovery",
          "k8s-notification-source",
          "metrics-data-source",
          "models-data-extractor",
          "models-data-source",
          "topology-extractor",
          // parsers
          "anthropic-parser",
          "openai-parser",
          "passthrough-parser",
          "sglanghttp-parser",
          "vertexai-parser",
          "vllmgrpc-parser",
          "vllmhttp-parser",
          // flow control
          "edf-ordering-policy",
          "fcfs-ordering-policy",
          "global-strict-fairness-policy",
          "priority-holdback-policy",
          "priority-then-time-eviction-order-policy",
          "program-aware-fairness",
          "round-robin-fairness-policy",
          "sheddable-eviction-filter",
          "slo-deadline-ordering-policy",
          "soft-reflective-ceiling-policy",
          "static-usage-limit-policy");

  private static final List<PluginFactory> PLUGINS = BuiltInPlugins.factories();
  private static final List<PluginFactory> BUILT_IN = BuiltInSettings.factories();

  @Test
  void everyTypeOfUpstreamIsThereBuiltInOrRefused() {
    assertThat(UPSTREAM).doesNotHaveDuplicates();
    assertThat(states().keySet()).containsAll(UPSTREAM);
  }

  @Test
  void noTypeIsRefusedThatIsThere() {
    Set<String> there = new HashSet<>();
    PLUGINS.forEach(factory -> there.add(factory.type()));
    BUILT_IN.forEach(factory -> there.add(factory.type()));
    assertThat(UpstreamTypes.INSTEAD.keySet()).doesNotContainAnyElementsOf(there);
    assertThat(there).hasSize(PLUGINS.size() + BUILT_IN.size());
  }

  @Test
  void theTableOfTheDocsSaysTheSame() throws IOException {
    Map<String, String> documented = new TreeMap<>();
    table().forEach((type, row) -> documented.put(type, row.state()));
    assertThat(documented).isEqualTo(states());
  }

  @Test
  void everyParameterOfTheTableIsRead() throws IOException {
    Map<String, PluginFactory> factories = new TreeMap<>();
    PLUGINS.forEach(factory -> factories.put(factory.type(), factory));
    BUILT_IN.forEach(factory -> factories.put(factory.type(), factory));
    int read = 0;
    for (Map.Entry<String, Row> row : table().entrySet()) {
      for (String parameter : row.getValue().parameters()) {
        PluginFactory factory = factories.get(row.getKey());
        assertThat(factory).as("%s takes no parameters", row.getKey()).isNotNull();
        Parameters parameters = new Parameters(Map.of(parameter, List.of(List.of())));
        try {
          factory.create(parameters);
          assertThat(parameters.unread())
              .as("%s of %s", parameter, row.getKey())
              .doesNotContain(parameter);
        } catch (InvalidParameterException e) {
          // Of the wrong type, or another one that it needs is missing.
          assertThat(e.field()).isNotEmpty();
        }
        read++;
      }
    }
    assertThat(read).isGreaterThan(40);
  }

  private static SortedMap<String, String> states() {
    SortedMap<String, String> states = new TreeMap<>();
    UpstreamTypes.INSTEAD.keySet().forEach(type -> states.put(type, "refused"));
    BUILT_IN.forEach(factory -> states.put(factory.type(), "built in"));
    PLUGINS.forEach(factory -> states.put(factory.type(), "plugin"));
    return states;
  }

  private record Row(String state, List<String> parameters) {}

  private static Map<String, Row> table() throws IOException {
    Map<String, Row> rows = new LinkedHashMap<>();
    for (String line : Files.readAllLines(root().resolve("docs/plugins.md"))) {
      String[] cells = line.split("\\|", -1);
      if (cells.length != 6 || !cells[1].strip().startsWith("`")) {
        continue;
      }
      String type = cells[1].strip().replace("`", "");
      // Defaults stand in brackets.
      Matcher names = CODE.matcher(cells[3].replaceAll("\\([^)]*\\)", ""));
      Row row = new Row(cells[2].strip(), names.results().map(found -> found.group(1)).toList());
      assertThat(rows.put(type, row)).as("%s is listed twice", type).isNull();
    }
    return rows;
  }

  private static Path root() {
    Path at = Path.of("").toAbsolutePath();
    while (!Files.exists(at.resolve("docs/plugins.md"))) {
      at = at.getParent();
      assertThat(at).as("a folder with docs/plugins.md").isNotNull();
    }
    return at;
  }
}
