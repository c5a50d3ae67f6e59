package io.fairlead.crds.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.DataLayerConfig;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.FlowTrust;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.ModelQueueConfig;
import io.fairlead.crds.config.ObjectiveConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.ReceiptsConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.ShadowConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.crds.config.TimeoutsConfig;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class ConfigDocumentTest {
  private static final PoolConfig CONFIG =
      new PoolConfig(
          "ns",
          "pool",
          Map.of("app", "yes", "tier", "", "a.b/c", "123"),
          List.of(8000, 8001),
          "http",
          List.of(
              new ModelConfig("a\"\n🦔", Criticality.CRITICAL, List.of(new TargetModel("null", 1))),
              new ModelConfig(
                  "b", Criticality.SHEDDABLE, List.of(new TargetModel("b", 1_000_000)))),
          new SchedulerConfig(
              List.of(
                  new PluginConfig(
                      "q",
                      "queue-scorer",
                      Map.of("z", 1L, "a", 0.5, "true", List.of(true, "~", Map.of("k", "1"))))),
              List.of(new ProfileConfig("default", List.of(new PluginReference("q", 2.5)))),
              "q"));

  @Test
  void readsWhatItWrote() throws DocumentException {
    assertThat(ConfigDocument.read("c", ConfigDocument.write(CONFIG)).value()).isEqualTo(CONFIG);
    assertThat(SchedulerDocument.read("s", SchedulerDocument.write(CONFIG.scheduler())).value())
        .isEqualTo(CONFIG.scheduler());
  }

  @Test
  void readsTheShadowsThatItWrote() throws DocumentException {
    PoolConfig config =
        CONFIG.withShadows(
            List.of(
                new ShadowConfig("one", CONFIG.scheduler()),
                new ShadowConfig("two", SchedulerConfig.DEFAULT)));
    assertThat(ConfigDocument.read("c", ConfigDocument.write(config)).value()).isEqualTo(config);
    assertThat(ConfigDocument.hash(config)).isNotEqualTo(ConfigDocument.hash(CONFIG));
  }

  @Test
  void theHashOfWhatAnOlderReleaseWroteStays() {
    // Another hash here means that every picker of every cluster reloads on an upgrade.
    assertThat(ConfigDocument.hash(CONFIG).hex())
        .isEqualTo("b4a148d6d3b30450870c034766af13329188552bb026d3b1e1d8837e8dfaf2cd");
  }

  @Test
  void readsTheObjectivesThatItWrote() throws DocumentException {
    PoolConfig config =
        new PoolConfig(
            "ns",
            "pool",
            Map.of("app", "a"),
            List.of(8000),
            "http",
            List.of(),
            List.of(
                new ObjectiveConfig("batch", Long.MIN_VALUE),
                new ObjectiveConfig("chat", Long.MAX_VALUE)),
            RequestsConfig.DEFAULT,
            SchedulerConfig.DEFAULT);
    String written = ConfigDocument.write(config);
    assertThat(ConfigDocument.read("c", written).value()).isEqualTo(config);
    assertThatThrownBy(
            () ->
                ConfigDocument.read(
                    "c", written.replace("chat", "batch").replaceFirst("hash: .*\n", "")))
        .hasMessageContaining("objectives[1].name")
        .hasMessageContaining("a name may appear only once");
  }

  @Test
  void howModelsWaitIsWrittenAndReadAgain() throws DocumentException {
    assertThat(ConfigDocument.write(queued(ModelQueueConfig.DEFAULT))).doesNotContain("queue:");
    PoolConfig config = queued(new ModelQueueConfig(4, Duration.ofSeconds(90)));
    String written = ConfigDocument.write(config);
    assertThat(written)
        .contains(
            """
              queue:
                weight: 4
                ttl: "90s"
            """);
    assertThat(ConfigDocument.read("c", written).value()).isEqualTo(config);
    String wrong = written.replaceFirst("(?m)^hash.*\n", "").replace("weight: 4", "weight: 0");
    assertThatThrownBy(() -> ConfigDocument.read("c", wrong))
        .hasMessageContaining("models[0].queue.weight");
  }

  private static PoolConfig queued(ModelQueueConfig queue) {
    return new PoolConfig(
        "ns",
        "pool",
        Map.of(),
        List.of(8000),
        "http",
        List.of(
            new ModelConfig(
                "m",
                Criticality.STANDARD,
                List.of(new TargetModel("m", 1)),
                TimeoutsConfig.UNSET,
                queue)),
        RequestsConfig.DEFAULT,
        SchedulerConfig.DEFAULT);
  }

  @Test
  void writesOfRequestsOnlyWhatIsNotTheDefault() throws DocumentException {
    PoolConfig config =
        requests(
            new RequestsConfig(
                Criticality.SHEDDABLE,
                new TimeoutsConfig(Duration.ofSeconds(90), null, Duration.ofMinutes(10)),
                true,
                0,
                new FlowTrust(FlowTrust.Mode.ALL, FlowTrust.Mode.SECRET, "ab".repeat(32)),
                new ReceiptsConfig(0, 7)),
            new TimeoutsConfig(null, Duration.ofMillis(1_500), null));
    String written = ConfigDocument.write(config);
    assertThat(written)
        .contains(
            """
              timeouts:
                silence: "1500ms"
            requests:
              unconfiguredModels: "Sheddable"
              timeouts:
                firstByte: "90s"
                total: "600s"
              trustTimeoutHeaders: true
              retryBudgetPercent: 0
              trustFlowHeaders:
                gateway: "Secret"
                secretSha256: "abababababababababababababababababababababababababababababababab"
              receipts:
                keep: 0
                every: 7
            scheduling: {}
            """);
    assertThat(ConfigDocument.read("c", written).value()).isEqualTo(config);

    PoolConfig preset = requests(RequestsConfig.DEFAULT, TimeoutsConfig.UNSET);
    assertThat(ConfigDocument.write(preset)).doesNotContain("requests:", "timeouts:");
    String said =
        ConfigDocument.write(preset)
            + """
              requests: {unconfiguredModels: Standard, timeouts: {}, retryBudgetPercent: 20}
              """;
    assertThat(ConfigDocument.read("c", said).value()).as("the hash holds").isEqualTo(preset);
  }

  private static PoolConfig requests(RequestsConfig requests, TimeoutsConfig ofModel) {
    return new PoolConfig(
        "ns",
        "pool",
        Map.of(),
        List.of(8000),
        "http",
        List.of(
            new ModelConfig("m", Criticality.STANDARD, List.of(new TargetModel("m", 1)), ofModel)),
        requests,
        SchedulerConfig.DEFAULT);
  }

  @Test
  void namesWhatIsWrongOfRequests() {
    String text =
        ConfigDocument.write(requests(RequestsConfig.DEFAULT, TimeoutsConfig.UNSET))
            .replaceFirst("(?m)^hash.*\n", "");
    assertThatThrownBy(
            () ->
                ConfigDocument.read(
                    "c",
                    text.replace("    weight: 1\n", "    weight: 1\n  timeouts: {total: 9000h}\n")
                        + """
                          requests:
                            timeouts: {firstByte: 0s, silence: soon, total: "-1s"}
                          """))
        .isInstanceOfSatisfying(
            DocumentException.class,
            e ->
                assertThat(e.errors())
                    .extracting(error -> error.path() + " " + error.message())
                    .containsExactlyInAnyOrder(
                        "models[0].timeouts.total is \"9000h\", expected a duration of at most"
                            + " 8760h",
                        "requests.timeouts.firstByte is \"0s\", expected a duration above 0s",
                        "requests.timeouts.silence is \"soon\", expected a duration as Go writes"
                            + " it, such as 30s or 1m30s",
                        "requests.timeouts.total is \"-1s\", expected a duration above 0s"));
    assertThatThrownBy(
            () ->
                ConfigDocument.read(
                    "c",
                    text
                        + """
                          requests:
                            unconfiguredModels: Vital
                            retryBudgetPercent: 101
                            trustTimeoutHeaders: maybe
                            timeouts: {fistByte: 1s}
                          """))
        .isInstanceOfSatisfying(
            DocumentException.class,
            e ->
                assertThat(e.errors())
                    .extracting(FieldError::path)
                    .containsExactlyInAnyOrder(
                        "requests.unconfiguredModels",
                        "requests.retryBudgetPercent",
                        "requests.trustTimeoutHeaders",
                        "requests.timeouts.fistByte"));
  }

  @Test
  void writesEverySectionThatItReads() throws DocumentException {
    FlowControlConfig flow =
        new FlowControlConfig(
            1L << 30,
            10_000L,
            Duration.ofSeconds(90),
            Duration.ofNanos(1),
            true,
            "q",
            "limit",
            new FlowControlConfig.Band(null, 0L, 0L, null, "edf"),
            new FlowControlConfig.Band(-1, null, 7L, "rr", null),
            List.of(
                new FlowControlConfig.Band(Integer.MIN_VALUE, null, null, null, null),
                new FlowControlConfig.Band(9, 1L, 2L, "rr", "edf")));
    DataLayerConfig data =
        new DataLayerConfig(
            false,
            List.of(
                new DataLayerConfig.Source("q", List.of("limit", "rr")),
                new DataLayerConfig.Source("rr", List.of())),
            "q",
            "rr",
            "edf",
            Duration.ofMillis(1_500));
    SchedulerConfig config =
        new SchedulerConfig(
            Stream.of("q", "limit", "edf", "rr")
                .map(name -> new PluginConfig(name, "t", Map.of()))
                .toList(),
            List.of(),
            "q",
            Map.of("flowControl", true, "dataLayer", false),
            flow,
            data,
            List.of("q", "rr"));
    String written = SchedulerDocument.write(config);
    assertThat(SchedulerDocument.read("s", written).value()).isEqualTo(config);
    assertThat(SchedulerDocument.write(SchedulerDocument.read("s", written).value()))
        .isEqualTo(written);
    assertThat(written).contains("defaultRequestTTL: \"90s\"", "noEndpointRequestTTL: \"1ns\"");
  }

  @Test
  void warnsOfWhatItDoesNotCarryOut() throws DocumentException {
    String text =
        """
        apiVersion: llm-d.ai/v1alpha1
        kind: EndpointPickerConfig
        featureGates: [enableLegacyMetrics=false, haPopulateNonLeaderDatastore=false, flowControl=false]
        flowControl: {maxRequests: 5}
        dataLayer: {injectDefaults: false, crossReplicaSyncInterval: 1s}
        """;
    assertThat(SchedulerDocument.read("f", text).warnings())
        .extracting(FieldError::path)
        .containsExactly(
            "featureGates", "featureGates", "flowControl", "dataLayer.injectDefaults", "dataLayer");
    assertThat(
            SchedulerDocument.read(
                    "f",
                    text.replaceAll("(?m)^(featureGates|flowControl|dataLayer).*\n", "")
                        + "featureGates: [dataLayer, haPopulateNonLeaderDatastore]\n")
                .warnings())
        .isEmpty();
  }

  @Test
  void aFieldWithoutAValueIsNotSet() throws DocumentException {
    String text =
        """
        apiVersion: llm-d.ai/v1alpha1
        kind: EndpointPickerConfig
        featureGates:
        plugins:
        schedulingProfiles: # those that were here are tried later
        """;
    assertThat(SchedulerDocument.read("f", text).value()).isEqualTo(SchedulerConfig.DEFAULT);
  }

  @Test
  void evictionIsCarriedOut() throws DocumentException {
    String text =
        """
        apiVersion: llm-d.ai/v1alpha1
        kind: EndpointPickerConfig
        flowControl: {maxRequests: 5, enableEviction: true}
        """;
    assertThat(SchedulerDocument.read("f", text).warnings()).isEmpty();
  }

  @Test
  void refusesAChangedDocument() {
    String edited = ConfigDocument.write(CONFIG).replace("8001", "8002");
    assertThatThrownBy(() -> ConfigDocument.read("c", edited))
        .isInstanceOf(DocumentException.class)
        .hasMessageContaining("c:3: hash: does not match the content");
  }

  @Test
  void readsUpstreamsConfigOfBothGroups() throws DocumentException {
    String text =
        """
        apiVersion: GROUP
        kind: EndpointPickerConfig
        featureGates: [flowControl]
        plugins:
        - type: queue-scorer
        - name: prefix
          type: prefix-cache-scorer
          parameters: {lruCapacityPerServer: 31250}
        schedulingProfiles:
        - name: default
          plugins:
          - pluginRef: queue-scorer
          - {pluginRef: prefix, weight: 3}
        """;
    for (String group : List.of("inference.networking.x-k8s.io/v1alpha1", "llm-d.ai/v1alpha1")) {
      Parsed<SchedulerConfig> parsed = SchedulerDocument.read("f", text.replace("GROUP", group));
      assertThat(parsed.value())
          .isEqualTo(
              new SchedulerConfig(
                  List.of(
                      new PluginConfig("queue-scorer", "queue-scorer", Map.of()),
                      new PluginConfig(
                          "prefix", "prefix-cache-scorer", Map.of("lruCapacityPerServer", 31250L))),
                  List.of(
                      new ProfileConfig(
                          "default",
                          List.of(
                              new PluginReference("queue-scorer", 1),
                              new PluginReference("prefix", 3)))),
                  null,
                  Map.of("flowControl", true),
                  null,
                  null,
                  List.of()));
      assertThat(parsed.warnings()).isEmpty();
    }
  }

  @Test
  void collectsEveryErrorWithItsPlace() {
    String text =
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha1
        kind: EndpointPickerConfig
        pluginz: []
        plugins:
        - name: 7
        schedulingProfiles:
        - name: default
          plugins:
          - {pluginRef: a, weight: heavy}
        """;
    assertThatThrownBy(() -> SchedulerDocument.read("epp.yaml", text))
        .isInstanceOfSatisfying(
            DocumentException.class,
            e ->
                assertThat(e.errors())
                    .extracting(error -> error.line() + " " + error.path())
                    .containsExactlyInAnyOrder(
                        "3 pluginz",
                        "0 plugins[0].type",
                        "5 plugins[0].name",
                        "9 schedulingProfiles[0].plugins[0].weight"));
  }

  @Test
  void refusesReferencesAndNamesThatDoNotFit() {
    String text =
        """
        apiVersion: llm-d.ai/v1alpha1
        kind: EndpointPickerConfig
        plugins: [{type: a}, {type: a}, {type: b, parameters: {x: null}}]
        schedulingProfiles: [{name: p, plugins: [{pluginRef: c}]}, {name: p}]
        saturationDetector: {pluginRef: d}
        """;
    assertThatThrownBy(() -> SchedulerDocument.read("epp.yaml", text))
        .isInstanceOfSatisfying(
            DocumentException.class,
            e ->
                assertThat(e.errors())
                    .extracting(FieldError::path)
                    .containsExactlyInAnyOrder(
                        "plugins[1].type",
                        "plugins[2].parameters.x",
                        "schedulingProfiles[1].name",
                        "schedulingProfiles[0].plugins[0].pluginRef",
                        "saturationDetector.pluginRef"));
  }

  @Test
  void refusesAliasesAndDepth() {
    assertThatThrownBy(
            () -> SchedulerDocument.read("f", "plugins: &a []\nschedulingProfiles: *a\n"))
        .isInstanceOf(DocumentException.class)
        .hasMessageContaining("f:2: schedulingProfiles: is a YAML alias");
    assertThatThrownBy(() -> SchedulerDocument.read("f", "[".repeat(100) + "]".repeat(100)))
        .isInstanceOf(DocumentException.class)
        .hasMessageContaining("nested deeper than 64");
  }
}
