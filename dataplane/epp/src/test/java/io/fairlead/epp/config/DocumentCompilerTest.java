package io.fairlead.epp.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Paths in a refusal are those of the file that somebody wrote. */
class DocumentCompilerTest {

  private static final Path ENDPOINTS = Path.of("endpoints.yaml");
  private static final Path CONFIG = Path.of("config.yaml");
  private static final Path FOLDER = Path.of("folder");

  private static final String SCHEDULING =
      """
      plugins:
        - {type: queue-scorer, name: q, parameters: {wieght: 2}}
        - {type: no-such-scorer}
        - {type: single-profile-handler}
      schedulingProfiles:
        - {name: p, plugins: [{pluginRef: single-profile-handler}]}
      saturationDetector: {pluginRef: q}
      """;

  @Test
  void ofAnEndpointPickerConfig() {
    String text =
        "apiVersion: inference.networking.x-k8s.io/v1alpha1\nkind: EndpointPickerConfig\n"
            + SCHEDULING;
    assertThat(refusal(files(text)))
        .containsExactly(
            "config.yaml: plugins[0].parameters.wieght",
            "config.yaml: plugins[1].type",
            "config.yaml: saturationDetector.pluginRef",
            "config.yaml: schedulingProfiles[0].plugins[0].pluginRef");
  }

  @Test
  void ofAConfigDocument() {
    String text =
        """
        apiVersion: fairlead.io/v1alpha1
        kind: PoolConfig
        pool: {namespace: n, name: p, selector: {app: a}, targetPorts: [8000], appProtocol: http}
        models: []
        scheduling:
        """
            + SCHEDULING.indent(2);
    List<String> expected =
        List.of(
            "config.yaml: scheduling.plugins[0].parameters.wieght",
            "config.yaml: scheduling.plugins[1].type",
            "config.yaml: scheduling.saturationDetector.pluginRef",
            "config.yaml: scheduling.schedulingProfiles[0].plugins[0].pluginRef");
    assertThat(refusal(files(text))).containsExactlyElementsOf(expected);
    assertThat(refusal(ConfigReaders.document("config.yaml", text)))
        .containsExactlyElementsOf(expected);
  }

  @Test
  void ofAnEndpointPickerInAFolder() {
    String pool =
        """
        apiVersion: inference.networking.k8s.io/v1
        kind: InferencePool
        metadata: {name: pool}
        spec:
          selector: {matchLabels: {app: stub}}
          targetPorts: [{number: 8000}]
          endpointPickerRef: {name: pool-epp, port: {number: 9002}}
        """;
    String picker =
        """
        apiVersion: fairlead.io/v1alpha1
        kind: EndpointPicker
        metadata: {name: mine}
        spec:
          poolRef: {name: pool}
          scheduling:
        """
            + SCHEDULING.indent(4);
    FileState state =
        state(
            new FileState.TextFile(FOLDER.resolve("pool.yaml"), pool),
            new FileState.TextFile(FOLDER.resolve("picker.yaml"), picker));
    String at = FOLDER.resolve("picker.yaml") + ": EndpointPicker default/mine: spec.scheduling.";
    assertThat(refusal(ConfigReaders.folder(state, FOLDER)))
        .containsExactly(
            at + "plugins[0].parameters.wieght",
            at + "plugins[1].type",
            at + "saturationDetector.pluginRef",
            at + "schedulingProfiles[0].plugins[0].pluginRef");
  }

  /** Whoever mends one after the other starts the picker as many times. */
  @Test
  void whatIsWrongInOnePlaceHidesNothingOfTheOthers() {
    String endpoints = "endpoints:\n  - {name: e, address: 10.0.0.1, port: 80000}\n";
    String config =
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha1
        kind: EndpointPickerConfig
        plugins:
        - type: work-cosst
        - type: disagg-profile-handler
        - type: queue-scorer
          parameters: {foo: 1}
        schedulingProfiles:
        - name: default
          plugins: [{pluginRef: nothere}]
        """;
    ConfigOffer offer =
        ConfigReaders.files(
            state(
                new FileState.TextFile(ENDPOINTS, endpoints),
                new FileState.TextFile(CONFIG, config)),
            ENDPOINTS,
            CONFIG);
    assertThat(places(offer))
        .containsExactly(
            ENDPOINTS + ":2: endpoints[0].port:",
            CONFIG + ":10: schedulingProfiles[0].plugins[0].pluginRef:",
            CONFIG + ": plugins[0].type",
            CONFIG + ": plugins[2].parameters.foo");
  }

  @Test
  void wrongEndpointsHideNothingOfAConfigThatCanBeRead() {
    ConfigOffer offer =
        ConfigReaders.files(
            state(
                new FileState.TextFile(ENDPOINTS, "endpoints: [{name: e, address: x, port: 80}]"),
                new FileState.TextFile(
                    CONFIG,
                    """
                    apiVersion: inference.networking.x-k8s.io/v1alpha1
                    kind: EndpointPickerConfig
                    plugins: [{type: work-cosst}]
                    """)),
            ENDPOINTS,
            CONFIG);
    assertThat(places(offer))
        .containsExactly(ENDPOINTS + ": endpoints[0]:", CONFIG + ": plugins[0].type");
  }

  @Test
  void inAFolderWhatIsWrongInOneFileHidesNothingOfTheOthers() {
    Path model = FOLDER.resolve("model.yaml");
    Path slice = FOLDER.resolve("endpoints.yaml");
    FileState state =
        state(
            new FileState.TextFile(
                model,
                """
                apiVersion: inference.networking.x-k8s.io/v1alpha2
                kind: InferenceModel
                metadata: {name: m}
                spec: {modelName: m, poolRef: {name: p}, criticality: Vital}
                """),
            new FileState.TextFile(
                FOLDER.resolve("pool.yaml"),
                """
                apiVersion: inference.networking.k8s.io/v1
                kind: InferencePool
                metadata: {name: p}
                spec:
                  selector: {matchLabels: {app: a}}
                  targetPorts: [{number: 8000}]
                  endpointPickerRef: {name: p, port: {number: 9002}}
                """),
            new FileState.TextFile(
                FOLDER.resolve("picker.yaml"),
                """
                apiVersion: fairlead.io/v1alpha1
                kind: EndpointPicker
                metadata: {name: mine}
                spec:
                  poolRef: {name: p}
                  scheduling: {plugins: [{type: work-cosst}]}
                """),
            new FileState.TextFile(slice, "endpoints: [{name: e, address: x, port: 80}]"));
    assertThat(places(ConfigReaders.folder(state, FOLDER)))
        .containsExactly(
            model + ":4: spec.criticality:",
            FOLDER + ": endpoints[0]:",
            FOLDER.resolve("picker.yaml")
                + ": EndpointPicker default/mine: spec.scheduling.plugins[0].type");
  }

  /** Where each problem is. */
  private static List<String> places(ConfigOffer offer) {
    assertThat(offer).isInstanceOf(ConfigOffer.Unreadable.class);
    return new DocumentCompiler(List.of())
        .problems((ConfigOffer.Unreadable) offer)
        .lines()
        .map(line -> line.replaceFirst(" (is|has|\"[a-z-]*\" is) .*", ""))
        .toList();
  }

  @Test
  void aReaderThatFailsMakesAnOfferThatSaysSo() {
    assertThat(
            ConfigReaders.guarded(
                "here",
                "hash",
                () -> {
                  throw new StackOverflowError("deep");
                }))
        .isEqualTo(
            new ConfigOffer.Unreadable(
                "here",
                "hash",
                "here: can't be made sense of: java.lang.StackOverflowError: deep"));
  }

  private static ConfigOffer files(String config) {
    String endpoints = "endpoints:\n  - {name: e, address: 10.0.0.1, port: 8000}\n";
    return ConfigReaders.files(
        state(new FileState.TextFile(ENDPOINTS, endpoints), new FileState.TextFile(CONFIG, config)),
        ENDPOINTS,
        CONFIG);
  }

  private static FileState state(FileState.TextFile... files) {
    return new FileState(List.of(files), "hash");
  }

  /** Origin and path of each problem, sorted. */
  private static List<String> refusal(ConfigOffer offer) {
    assertThat(offer).isInstanceOf(ConfigOffer.Document.class);
    DocumentCompiler.Result result =
        new DocumentCompiler(List.of()).compile((ConfigOffer.Document) offer, null);
    assertThat(result).isInstanceOf(DocumentCompiler.Result.Refused.class);
    String message = ((DocumentCompiler.Result.Refused) result).message();
    return Arrays.stream(message.split("\n"))
        .map(line -> line.replaceFirst(" (is|\"[a-z-]*\" is) .*", ""))
        .sorted()
        .toList();
  }
}
