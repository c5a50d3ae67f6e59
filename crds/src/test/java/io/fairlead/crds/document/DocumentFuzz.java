package io.fairlead.crds.document;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.local.LocalResourceReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever the text: a document or the readers' own error, and what was read is written and read as
 * the same.
 */
final class DocumentFuzz {
  private static final String POOL =
      """
      apiVersion: fairlead.io/v1alpha1
      kind: PoolConfig
      pool: {namespace: n, name: p, selector: {a: "1"}, targetPorts: [1]}
      models: [{name: m, criticality: Critical, targets: [{name: t, weight: 1}]}]
      scheduling: {plugins: [{type: q, parameters: {x: [1, 2.5, true, {y: z}]}}]}
      """;
  private static final String SCHEDULER =
      """
      apiVersion: llm-d.ai/v1alpha1
      kind: EndpointPickerConfig
      featureGates: [flowControl, dataLayer=false]
      plugins: [{type: a}, {name: b, type: c, parameters: {d: [1.5]}}]
      schedulingProfiles: [{name: p, plugins: [{pluginRef: a, weight: 2}]}]
      saturationDetector: {pluginRef: a}
      dataLayer:
        injectDefaults: true
        sources: [{pluginRef: a, extractors: [{pluginRef: b}]}]
        discovery: {pluginRef: a}
        crossReplicaSyncInterval: 100ms
      flowControl:
        maxBytes: 1.5Gi
        maxRequests: 2e3
        defaultRequestTTL: 1m30.5s
        noEndpointRequestTTL: 0
        enableEviction: false
        usageLimitPolicyPluginRef: b
        defaultPriorityBand: {maxBytes: 0}
        priorityBands: [{priority: -1, maxRequests: 5k, fairnessPolicyRef: a, orderingPolicyRef: b}]
      requestHandler: {parsers: [{pluginRef: a}]}
      """;
  private static final List<String> PIECES =
      List.of(
          "{",
          "}",
          "[",
          "]",
          ": ",
          "- ",
          "\n",
          "  ",
          "\"",
          "'",
          "&a ",
          "*a",
          "!!int ",
          "|\n",
          ">\n",
          "? ",
          "%",
          "@",
          "\t",
          "0x",
          "1e999",
          ".nan",
          "99999999999999999999",
          "null",
          "~",
          "\\ud800",
          "\uFEFF",
          "\u0000",
          "🦔",
          "---\n",
          "...\n",
          "<<: ",
          "plugins",
          "pluginRef: a",
          "flowControl: {}",
          "maxBytes: -1",
          "1h",
          "Ki",
          "=true",
          "type",
          "x",
          "#",
          ",");

  @FuzzTest
  void anyText(FuzzedDataProvider data) {
    readAll(data.consumeRemainingAsString());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void damagedDocuments(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 500; i++) {
      StringBuilder text = new StringBuilder(i % 2 == 0 ? POOL : SCHEDULER);
      for (int j = random.nextInt(4); j >= 0; j--) {
        int at = random.nextInt(text.length());
        if (random.nextBoolean()) {
          text.delete(at, Math.min(text.length(), at + 1 + random.nextInt(6)));
        }
        text.insert(Math.min(at, text.length()), PIECES.get(random.nextInt(PIECES.size())));
      }
      readAll(text.toString());
    }
  }

  private static void readAll(String text) {
    try {
      PoolConfig config = ConfigDocument.read("f", text).value();
      assertThat(ConfigDocument.read("f", ConfigDocument.write(config)).value())
          .as(text)
          .isEqualTo(config);
    } catch (DocumentException refused) {
      assertThat(new ArrayList<>(refused.errors())).as(text).isNotEmpty();
    }
    try {
      SchedulerConfig config = SchedulerDocument.read("f", text).value();
      assertThat(SchedulerDocument.read("f", SchedulerDocument.write(config)).value())
          .as(text)
          .isEqualTo(config);
    } catch (DocumentException refused) {
      assertThat(refused.errors()).as(text).isNotEmpty();
    }
    assertThat(LocalResourceReader.read("f", text)).isNotNull();
  }
}
