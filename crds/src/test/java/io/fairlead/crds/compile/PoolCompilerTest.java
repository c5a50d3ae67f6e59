package io.fairlead.crds.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.FlowTrust;
import io.fairlead.crds.config.LatencyConfig;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.ModelQueueConfig;
import io.fairlead.crds.config.ObjectiveConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.ShadowConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.crds.config.TimeoutsConfig;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.document.DocumentException;
import io.fairlead.crds.document.PluginTypes;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.crds.watch.ApiJson;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class PoolCompilerTest {
  private static final YAMLMapper YAML = new YAMLMapper();

  private static <T> T read(Class<T> type, String yaml) {
    try {
      return YAML.readValue(yaml, type);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static InferencePool pool(String spec) {
    return read(InferencePool.class, "{metadata: {name: p, namespace: n}, spec: " + spec + "}");
  }

  private static InferencePool pool() {
    return pool("{selector: {matchLabels: {app: vllm}}, targetPorts: [{number: 8000}]}");
  }

  private static InferenceModel model(String name, String created, String spec) {
    return read(
        InferenceModel.class,
        "{metadata: {name: "
            + name
            + ", namespace: n, creationTimestamp: '"
            + created
            + "'}, spec: "
            + spec
            + "}");
  }

  private static InferenceModel good(String name) {
    return model(name, "2026-01-01T00:00:00Z", "{modelName: " + name + ", poolRef: {name: p}}");
  }

  private static PoolConfig config(Compilation compilation) {
    return Objects.requireNonNull(compilation.config());
  }

  @Test
  void compilesToTheDocument() {
    InferenceModel split =
        model(
            "split",
            "2026-01-01T00:00:00Z",
            "{modelName: a, criticality: Critical, targetModels: [{name: x, weight: 9}, {name: y, weight: 1}], poolRef: {name: p}}");
    Compilation compilation = PoolCompiler.compile(pool(), List.of(good("z"), split), null);
    assertThat(compilation.findings()).isEmpty();
    assertThat(config(compilation).models())
        .containsExactly(
            new ModelConfig(
                "a",
                Criticality.CRITICAL,
                List.of(new TargetModel("x", 9), new TargetModel("y", 1))),
            new ModelConfig("z", Criticality.STANDARD, List.of(new TargetModel("z", 1))));
    assertThat(config(compilation).targetPorts()).containsExactly(8000);
    assertThat(compilation.accepted().getFirst().message()).contains("inference.networking.k8s.io");
  }

  @Test
  void theOldestThenTheFirstNameWinsInAnyOrder() {
    String spec = "{modelName: m, poolRef: {name: p}}";
    List<InferenceModel> models = new ArrayList<>();
    for (int i = 10; i < 60; i++) {
      models.add(model("m" + i, "2026-01-01T00:00:01Z", spec));
    }
    models.add(
        model(
            "zz", "2026-01-01T00:00:00Z", "{modelName: m, criticality: Bad, poolRef: {name: p}}"));
    models.add(model("za", "2026-01-01T00:00:00Z", "{modelName: m, poolRef: {name: other}}"));
    InferenceModel leaving = model("zb", "2026-01-01T00:00:00Z", spec);
    leaving.getMetadata().setDeletionTimestamp("2026-02-01T00:00:00Z");
    models.add(leaving);
    Compilation first = PoolCompiler.compile(pool(), models, null);
    assertThat(first.accepted()).extracting(a -> a.object().name()).containsExactly("m10");
    assertThat(first.about(new ObjectRef("InferenceModel", "n", "m11")))
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.reason()).isEqualTo("ModelNameInUse");
              assertThat(finding.message()).contains("InferenceModel n/m10");
            });
    for (long seed = 0; seed < 20; seed++) {
      Collections.shuffle(models, new Random(seed));
      assertThat(PoolCompiler.compile(pool(), models, null)).as("seed %d", seed).isEqualTo(first);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "null | InvalidSpec | spec",
        "{poolRef: {name: p}} | InvalidSpec | spec.modelName",
        "{modelName: '', poolRef: {name: p}} | InvalidSpec | spec.modelName",
        "{modelName: x, criticality: High, poolRef: {name: p}} | InvalidSpec | spec.criticality",
        "{modelName: x, targetModels: [{name: ''}], poolRef: {name: p}} | InvalidSpec | spec.targetModels[0].name",
        "{modelName: x, targetModels: [{name: a}, {name: a}], poolRef: {name: p}} | InvalidSpec | spec.targetModels[1].name",
        "{modelName: x, targetModels: [{name: a, weight: 0}], poolRef: {name: p}} | InvalidSpec | spec.targetModels[0].weight",
        "{modelName: x, targetModels: [{name: a, weight: 1}, {name: b}], poolRef: {name: p}} | InvalidSpec | spec.targetModels",
        "{modelName: x, poolRef: {group: '', name: p}} | InvalidPoolRef | spec.poolRef.group",
        "{modelName: x, poolRef: {kind: Service, name: p}} | InvalidPoolRef | spec.poolRef.kind",
      })
  void aHostileModelIsNamedAndHarmsNobody(String spec, String reason, String path) {
    Compilation alone = PoolCompiler.compile(pool(), List.of(good("a"), good("b")), null);
    Compilation beside =
        PoolCompiler.compile(
            pool(),
            List.of(good("a"), model("bad", "2025-01-01T00:00:00Z", spec), good("b")),
            null);
    assertThat(beside.config()).isEqualTo(alone.config());
    assertThat(beside.accepted()).isEqualTo(alone.accepted());
    assertThat(beside.findings())
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.object()).isEqualTo(new ObjectRef("InferenceModel", "n", "bad"));
              assertThat(finding.reason()).isEqualTo(reason);
              assertThat(finding.path()).isEqualTo(path);
              assertThat(finding.message()).startsWith(path);
            });
  }

  @Test
  void takesNamesThatAreOddButWhole() {
    InferenceModel odd =
        model("odd", "2026-01-01T00:00:00Z", "{modelName: \"\\\"\\n🦔\", poolRef: {name: p}}");
    Compilation compilation = PoolCompiler.compile(pool(), List.of(odd), null);
    assertThat(config(compilation).models())
        .extracting(ModelConfig::name)
        .containsExactly("\"\n🦔");
    assertThat(ConfigDocument.write(config(compilation))).contains("hash:");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "null | spec",
        "{targetPorts: [{number: 1}]} | spec.selector.matchLabels",
        "{selector: {matchLabels: {'app in (a,b),tier': x}}, targetPorts: [{number: 1}]} | spec.selector.matchLabels[\"app in (a,b),tier\"]",
        "{selector: {matchLabels: {app: 'a b'}}, targetPorts: [{number: 1}]} | spec.selector.matchLabels.app",
        "{selector: {matchLabels: {app: a}}} | spec.targetPorts",
        "{selector: {matchLabels: {app: a}}, targetPorts: [{number: 0}]} | spec.targetPorts[0].number",
        "{selector: {matchLabels: {app: a}}, targetPorts: [{number: 1}, {number: 1}]} | spec.targetPorts[1].number",
        "{selector: {matchLabels: {app: a}}, targetPorts: [{number: 1}], appProtocol: h2} | spec.appProtocol",
      })
  void aHostilePoolGivesNoConfigAndSaysWhy(String spec, String path) {
    Compilation compilation = PoolCompiler.compile(pool(spec), List.of(good("a")), null);
    assertThat(compilation.config()).isNull();
    assertThat(compilation.findings())
        .anySatisfy(
            finding -> {
              assertThat(finding.object().kind()).isEqualTo("InferencePool");
              assertThat(finding.reason()).isEqualTo("InvalidSpec");
              assertThat(finding.path()).isEqualTo(path);
            });
  }

  @Test
  void aPickerNameThatNoServiceHasIsNamedButHarmsNothing() {
    Compilation compilation =
        PoolCompiler.compile(
            pool(
                "{selector: {matchLabels: {app: a}}, targetPorts: [{number: 1}], endpointPickerRef: {name: 'Bad Name!'}}"),
            List.of(),
            null);
    assertThat(compilation.config()).isNotNull();
    assertThat(compilation.findings())
        .extracting(Finding::reason)
        .containsExactly("InvalidExtensionRef");
  }

  @Test
  void aFrontendThatNobodyKnowsIsNamedAndTheConfigGoesOn() {
    EndpointPicker picker =
        read(
            EndpointPicker.class,
            "{metadata: {name: e, namespace: n}, spec: {poolRef: {name: p}, frontend: Proxy}}");
    Compilation compilation = PoolCompiler.compile(pool(), List.of(), picker);
    assertThat(compilation.config()).isNotNull();
    assertThat(compilation.findings())
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.reason()).isEqualTo("InvalidSpec");
              assertThat(finding.severity()).isEqualTo(Finding.Severity.REJECTS);
              assertThat(finding.message())
                  .isEqualTo("spec.frontend is \"Proxy\", expected one of ExtProc, Gateway");
            });
  }

  @Test
  void readsThePickersScheduling() {
    EndpointPicker picker =
        read(
            EndpointPicker.class,
            "{metadata: {name: e, namespace: n}, spec: {poolRef: {name: p}, scheduling: {plugins: [{type: queue-scorer}], featureGates: [flowControl=false], flowControl: {}}}}");
    Compilation compilation = PoolCompiler.compile(pool(), List.of(), picker);
    assertThat(config(compilation).scheduler().plugins()).hasSize(1);
    assertThat(compilation.findings()).extracting(Finding::reason).containsExactly("NotCarriedOut");
    EndpointPicker broken =
        read(
            EndpointPicker.class,
            "{metadata: {name: e, namespace: n}, spec: {poolRef: {name: p}, scheduling: {plugins: [{name: a}]}}}");
    Compilation refused = PoolCompiler.compile(pool(), List.of(), broken);
    assertThat(refused.config()).isNull();
    assertThat(refused.findings())
        .extracting(Finding::path)
        .containsExactly("spec.scheduling.plugins[0].type");
  }

  private static Compilation from(EndpointPicker picker, SchedulingText text) {
    return PoolCompiler.compile(
        pool(), List.of(), picker, UpstreamObjects.NONE, PluginTypes.shipped(), () -> null, text);
  }

  @Test
  void aPluginThatHasNoParametersIsSaidToHaveNone() {
    String text = "plugins: [{type: queue-scorer, parameters: {threshold: 1}}]";
    assertThat(from(referring(""), SchedulingText.of(text)).findings())
        .singleElement()
        .extracting(Finding::message)
        .asString()
        .endsWith("parameters.threshold is an unknown field; none is known here");
  }

  /** Else each would be found only when the one before is mended. */
  @Test
  void whatIsWrongWithADocumentHidesNothingThatIsWrongWithItsPlugins() {
    String scheduling =
        "{plugins: [{type: que-scorer}, {type: queue-scorer, parameters: {a: 1}}, {name: x}, {type: work-cost, parameters: 7}], schedulingProfils: []}";
    List<String> wrong =
        List.of(
            "plugins[0].type is \"que-scorer\"",
            "plugins[1].parameters.a is an unknown field",
            "plugins[2].type is required",
            "plugins[3].parameters is 7",
            "schedulingProfils is an unknown field");
    Map<String, Compilation> all =
        Map.of(
            "spec.scheduling.",
            from(scheduling(scheduling), SchedulingText.none("is not set")),
            "spec.shadows[0].scheduling.",
            from(
                shadows("{name: a, scheduling: " + scheduling + "}"),
                SchedulingText.none("is not set")),
            "key epp.yaml of ConfigMap tuned: ",
            from(referring(""), SchedulingText.of(scheduling)));
    all.forEach(
        (where, compilation) -> {
          assertThat(compilation.findings()).hasSameSizeAs(wrong);
          assertThat(wrong)
              .allSatisfy(
                  one ->
                      assertThat(compilation.findings())
                          .extracting(Finding::message)
                          .anyMatch(message -> message.startsWith(where) && message.contains(one)));
        });
  }

  /** It is in none of the document's schema, and so would be told twice. */
  @Test
  void anExternalSchedulerInAConfigMapIsToldBesideWhatElseIsWrong() {
    assertThat(
            from(
                    referring(""),
                    SchedulingText.of("external: {service: {}}\nplugins: [{type: que-scorer}]\n"))
                .findings())
        .extracting(Finding::message)
        .satisfiesExactlyInAnyOrder(
            message ->
                assertThat(message).contains("line 1: external is not taken from a ConfigMap"),
            message -> assertThat(message).contains("line 2: plugins[0].type"));
  }

  private static EndpointPicker referring(String beside) {
    return read(
        EndpointPicker.class,
        "{metadata: {name: e, namespace: n}, spec: {poolRef: {name: p}, schedulingFrom: {configMapKeyRef: {name: tuned, key: epp.yaml}}"
            + beside
            + "}}");
  }

  @Test
  void readsASchedulingThatIsElsewhere() {
    Compilation compilation =
        from(
            referring(""),
            SchedulingText.of(
                "plugins: [{type: queue-scorer}]\nfeatureGates: [flowControl=false]\nflowControl: {}\n"));
    assertThat(config(compilation).scheduler().plugins()).hasSize(1);
    assertThat(compilation.findings())
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.reason()).isEqualTo("NotCarriedOut");
              assertThat(finding.message()).startsWith("key epp.yaml of ConfigMap tuned: ");
            });
  }

  @Test
  void whatIsWrongWithASchedulingThatIsElsewhereIsToldByItsPlace() {
    Map<Compilation, String> wrong = new LinkedHashMap<>();
    wrong.put(
        PoolCompiler.compile(pool(), List.of(), referring("")),
        "spec.schedulingFrom.configMapKeyRef is followed by the operator alone");
    wrong.put(
        from(referring(""), SchedulingText.none("names ConfigMap tuned, which is not there")),
        "spec.schedulingFrom.configMapKeyRef names ConfigMap tuned, which is not there");
    wrong.put(
        from(referring(", scheduling: {}"), SchedulingText.of("plugins: []")),
        "spec.schedulingFrom.configMapKeyRef stands beside spec.scheduling");
    wrong.put(
        from(referring(""), SchedulingText.of("plugins:\n  - type: que-scorer\n")),
        "key epp.yaml of ConfigMap tuned: line 2: plugins[0].type");
    wrong.put(from(referring(""), SchedulingText.of("- a\n")), "key epp.yaml of ConfigMap tuned: ");
    wrong.put(from(referring(""), SchedulingText.of("")), "holds 0 documents");
    wrong.put(
        from(
            read(
                EndpointPicker.class,
                "{metadata: {name: e, namespace: n}, spec: {poolRef: {name: p}, schedulingFrom: {}}}"),
            SchedulingText.none("unused")),
        "spec.schedulingFrom.configMapKeyRef is missing");
    wrong.forEach(
        (compilation, message) -> {
          assertThat(compilation.config()).as(message).isNull();
          assertThat(compilation.findings())
              .as(message)
              .allMatch(finding -> finding.reason().equals("InvalidSpec"))
              .anyMatch(finding -> finding.message().contains(message));
        });
  }

  @Test
  void readsHowThePickerTreatsRequests() {
    Compilation compilation =
        PoolCompiler.compile(
            pool(),
            List.of(),
            requests(
                "{unconfiguredModels: Sheddable, timeouts: {firstByte: 1m30s, total: 10m},"
                    + " trustTimeoutHeaders: true, retryBudgetPercent: 5}"));
    assertThat(compilation.findings()).isEmpty();
    assertThat(config(compilation).requests())
        .isEqualTo(
            new RequestsConfig(
                Criticality.SHEDDABLE,
                new TimeoutsConfig(Duration.ofSeconds(90), null, Duration.ofMinutes(10)),
                true,
                5));
    for (String preset : List.of("null", "{}", "{timeouts: {}}", "{timeouts: {silence: null}}")) {
      assertThat(config(PoolCompiler.compile(pool(), List.of(), requests(preset))).requests())
          .isEqualTo(RequestsConfig.DEFAULT);
    }
  }

  @Test
  void readsWhoseHeadersCountAndWantsTheSecretThatIsAskedFor() {
    String digits = "0123456789ABCDEF".repeat(4);
    String trust = "{trustFlowHeaders: {extProc: None, gateway: Secret, secretSha256: %s}}";
    assertThat(
            config(PoolCompiler.compile(pool(), List.of(), requests(trust.formatted(digits))))
                .requests()
                .trustFlowHeaders())
        .isEqualTo(
            new FlowTrust(
                FlowTrust.Mode.NONE, FlowTrust.Mode.SECRET, digits.toLowerCase(Locale.ROOT)));
    for (String wrong :
        List.of("{trustFlowHeaders: {gateway: Secret}}", trust.formatted("secret"))) {
      assertThat(PoolCompiler.compile(pool(), List.of(), requests(wrong)).findings())
          .extracting(Finding::path)
          .containsExactly("spec.requests.trustFlowHeaders.secretSha256");
    }
  }

  @Test
  void aPickerThatTreatsRequestsInNoWayGivesNoConfigAndSaysWhy() {
    Compilation refused =
        PoolCompiler.compile(
            pool(),
            List.of(good("a")),
            requests("{timeouts: {firstByte: soon, silence: 0s, total: 8761h}}"));
    assertThat(refused.config()).isNull();
    assertThat(refused.findings())
        .extracting(Finding::message)
        .containsExactly(
            "spec.requests.timeouts.firstByte is \"soon\", expected a duration as Go writes it,"
                + " such as 30s or 1m30s",
            "spec.requests.timeouts.silence is \"0s\", expected a duration above 0s",
            "spec.requests.timeouts.total is \"8761h\", expected a duration of at most 8760h");
    assertThat(
            PoolCompiler.compile(
                    pool(),
                    List.of(),
                    requests("{unconfiguredModels: Vital, retryBudgetPercent: 101}"))
                .findings())
        .extracting(Finding::path)
        .containsExactly("spec.requests.unconfiguredModels", "spec.requests.retryBudgetPercent");
  }

  @Test
  void ofAPickerThatCannotBeRunWhatRanBeforeStaysAndModelsGoOn() {
    PoolConfig ran =
        config(PoolCompiler.compile(pool(), List.of(), requests("{retryBudgetPercent: 5}")));
    Compilation edited =
        PoolCompiler.compile(
            pool(),
            List.of(good("a")),
            requests("{retryBudgetPercent: 500}"),
            UpstreamObjects.NONE,
            PluginTypes.shipped(),
            ran);
    assertThat(config(edited).requests()).isEqualTo(ran.requests());
    assertThat(config(edited).models()).hasSize(1);
    assertThat(edited.findings())
        .extracting(Finding::path)
        .containsExactly("spec.requests.retryBudgetPercent");
    assertThat(
            PoolCompiler.compile(
                    pool(),
                    List.of(),
                    requests("{retryBudgetPercent: 500}"),
                    UpstreamObjects.NONE,
                    PluginTypes.shipped(),
                    null)
                .config())
        .as("nothing ran before")
        .isNull();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "sidecar: {image: i} | {address=unix:/run/fairlead/scheduler/socket}",
        "sidecar: {image: i, port: 9100}, timeout: 5ms | {address=127.0.0.1:9100, timeout=5ms}",
        "service: {address: 's:1'}, state: false | {address=s:1, state=false}",
        "service: {address: 's:1', tls: {}} | {address=s:1, tls=true}",
        "service: {address: 's:1', tls: {caSecret: c}} | {address=s:1, caFile=/etc/fairlead/scheduler/ca.crt, tls=true}",
      })
  void anExternalSchedulerIsAPluginBesideTheOthers(String external, String parameters) {
    EndpointPicker picker =
        scheduling("{external: {" + external + "}, plugins: [{type: work-cost}]}");
    String before = picker.getSpec().toString();
    Compilation compilation =
        PoolCompiler.compile(
            pool(), List.of(), picker, UpstreamObjects.NONE, PluginTypes.shipped(), null);
    assertThat(compilation.findings()).isEmpty();
    List<PluginConfig> plugins = config(compilation).scheduler().plugins();
    assertThat(plugins)
        .extracting(PluginConfig::type)
        .containsExactly("work-cost", "external-scheduler");
    assertThat(new TreeMap<>(plugins.getLast().parameters())).hasToString(parameters);
    assertThat(picker.getSpec()).as("what was observed stays as it is").hasToString(before);
  }

  @Test
  void aShadowsExternalSchedulerHasAPlaceOfItsOwn() {
    Compilation compilation =
        PoolCompiler.compile(
            pool(),
            List.of(),
            shadows(
                "{name: a, scheduling: {external: {service: {address: 's:1', tls: {caSecret: c}}}}}"));
    assertThat(compilation.findings()).isEmpty();
    assertThat(config(compilation).shadows().getFirst().scheduler().plugins())
        .singleElement()
        .satisfies(
            plugin ->
                assertThat(plugin.parameters())
                    .containsEntry("caFile", "/etc/fairlead/scheduler-a/ca.crt"));
  }

  @Test
  void whatIsWrongWithAnExternalSchedulerIsToldByItsField() {
    for (EndpointPicker picker :
        List.of(
            scheduling("{external: {service: {address: nowhere}}}"),
            shadows("{name: a, scheduling: {external: {service: {address: nowhere}}}}"))) {
      Compilation compilation = PoolCompiler.compile(pool(), List.of(), picker);
      assertThat(compilation.findings())
          .singleElement()
          .satisfies(
              finding -> {
                assertThat(finding.path()).endsWith("scheduling.external.service.address");
                assertThat(finding.severity()).isEqualTo(Finding.Severity.REJECTS);
              });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {8080, 9002, 9003, 9004, 9090})
  void aSidecarAtAPortOfThePickersIsToldByItsField(int port) {
    Compilation compilation =
        PoolCompiler.compile(
            pool(), List.of(), scheduling("{external: {sidecar: {image: i, port: " + port + "}}}"));
    assertThat(compilation.findings())
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.message())
                  .isEqualTo(
                      "spec.scheduling.external.sidecar.port is "
                          + port
                          + ": this is a port of the picker's own; take another");
              assertThat(finding.severity()).isEqualTo(Finding.Severity.REJECTS);
            });
    assertThat(compilation.refuses("spec.scheduling")).isTrue();
    assertThat(compilation.refuses("spec.shadows")).isFalse();
  }

  /** It would be a container of the pod that serves, which is not ready while one crashes. */
  @Test
  void aShadowsSidecarIsToldToRunApart() {
    Compilation compilation =
        PoolCompiler.compile(
            pool(),
            List.of(),
            shadows(
                "{name: a, scheduling: {}}, {name: b, scheduling: {external: {sidecar: {image: i}}}}"));
    assertThat(compilation.findings())
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.path()).isEqualTo("spec.shadows[1].scheduling.external.sidecar");
              assertThat(finding.message()).endsWith("run it apart, and name it in service");
              assertThat(finding.severity()).isEqualTo(Finding.Severity.REJECTS);
            });
    assertThat(compilation.refuses("spec.scheduling")).isFalse();
    assertThat(compilation.refuses("spec.shadows")).isTrue();
  }

  private static EndpointPicker scheduling(String scheduling) {
    return read(
        EndpointPicker.class,
        "{metadata: {name: e, namespace: n}, spec: {poolRef: {name: p}, scheduling: "
            + scheduling
            + "}}");
  }

  @Test
  void whatIsWrongWithAShadowIsToldAndKeepsNothingElseFromBeingChanged() {
    PoolConfig ran =
        config(PoolCompiler.compile(pool(), List.of(), shadows("{name: a, scheduling: {}}")));
    assertThat(ran.shadows()).extracting(ShadowConfig::name).containsExactly("a");
    Compilation edited =
        PoolCompiler.compile(
            pool(),
            List.of(good("m")),
            shadows(
                "{name: b, scheduling: {}}, {name: c, scheduling: {plugins: [{type: queue-score}]}}"),
            UpstreamObjects.NONE,
            PluginTypes.shipped(),
            ran);
    assertThat(edited.findings())
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.path()).isEqualTo("spec.shadows[1].scheduling.plugins[0].type");
              assertThat(finding.message()).contains("queue-scorer");
            });
    assertThat(config(edited).models()).hasSize(1);
    assertThat(config(edited).shadows()).isEqualTo(ran.shadows());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{name: Upper, scheduling: {}} | spec.shadows[0].name",
        "{name: a} | spec.shadows[0].scheduling",
        "{name: a, scheduling: {}}, {name: a, scheduling: {}} | spec.shadows[1].name",
        "{name: a, scheduling: {plugins: [{name: x}]}} | spec.shadows[0].scheduling.plugins[0].type",
      })
  void aShadowThatIsNoneIsRefusedByItsField(String list, String path) {
    Compilation refused = PoolCompiler.compile(pool(), List.of(), shadows(list));
    assertThat(refused.findings()).extracting(Finding::path).containsExactly(path);
    assertThat(config(refused).shadows()).isEmpty();
  }

  /** As deep as an API server stores: whoever goes down there without a bound runs out of stack. */
  @ParameterizedTest
  @CsvSource({"9900,true", "58,true", "57,false"})
  void aSchedulingThatIsNestedTooDeepIsToldSo(int parameters, boolean told) {
    String scheduling =
        "\"scheduling\": {\"plugins\": [{\"type\": \"queue-scorer\", \"parameters\": %s1%s}]}"
            .formatted("{\"a\":".repeat(parameters), "}".repeat(parameters));
    Map.of(
            scheduling,
            "spec.scheduling",
            "\"shadows\": [{\"name\": \"a\", %s}]".formatted(scheduling),
            "spec.shadows[0].scheduling")
        .forEach(
            (spec, path) -> {
              EndpointPicker picker =
                  ApiJson.serialization()
                      .unmarshal(
                          "{\"metadata\": {\"name\": \"e\", \"namespace\": \"n\"}, \"spec\": {\"poolRef\": {\"name\": \"p\"}, %s}}"
                              .formatted(spec),
                          EndpointPicker.class);
              assertThat(PoolCompiler.compile(pool(), List.of(), picker).findings())
                  .extracting(Finding::message)
                  .isEqualTo(
                      told
                          ? List.of(path + " is nested deeper than 60 levels; make it flatter")
                          : List.of());
            });
  }

  private static EndpointPicker shadows(String list) {
    return read(
        EndpointPicker.class,
        "{metadata: {name: e, namespace: n}, spec: {poolRef: {name: p}, shadows: [" + list + "]}}");
  }

  private static EndpointPicker requests(String requests) {
    return read(
        EndpointPicker.class,
        "{metadata: {name: e, namespace: n}, spec: {poolRef: {name: p}, requests: "
            + requests
            + "}}");
  }

  @Test
  void aModelsAnnotationsSetItsTimeouts() {
    InferenceModel model = good("a");
    model
        .getMetadata()
        .setAnnotations(
            Map.of(
                "fairlead.io/first-byte-timeout",
                "5s",
                "fairlead.io/silence-timeout",
                "1500ms",
                "fairlead.io/timeout",
                "1h",
                "fairlead.io/else",
                "x"));
    Compilation compilation = PoolCompiler.compile(pool(), List.of(model, good("b")), null);
    assertThat(compilation.findings()).isEmpty();
    assertThat(config(compilation).models())
        .extracting(ModelConfig::timeouts)
        .containsExactly(
            new TimeoutsConfig(
                Duration.ofSeconds(5), Duration.ofMillis(1_500), Duration.ofHours(1)),
            TimeoutsConfig.UNSET);
  }

  @Test
  void aModelIsServedWithoutTheAnnotationsThatAreWrong() {
    InferenceModel model = good("a");
    model
        .getMetadata()
        .setAnnotations(
            Map.of("fairlead.io/first-byte-timeout", "5", "fairlead.io/timeout", "10s"));
    Compilation compilation = PoolCompiler.compile(pool(), List.of(model), null);
    assertThat(config(compilation).models())
        .extracting(ModelConfig::timeouts)
        .containsExactly(new TimeoutsConfig(null, null, Duration.ofSeconds(10)));
    assertThat(compilation.accepted()).hasSize(1);
    assertThat(compilation.findings())
        .containsExactly(
            new Finding(
                new ObjectRef("InferenceModel", "n", "a"),
                "metadata.annotations[\"fairlead.io/first-byte-timeout\"]",
                "InvalidAnnotation",
                "metadata.annotations[\"fairlead.io/first-byte-timeout\"] is \"5\", expected a"
                    + " duration as Go writes it, such as 30s or 1m30s",
                Finding.Severity.WARNS));
  }

  @Test
  void annotationsSayHowRequestsOfAModelWait() {
    InferenceModel model = good("a");
    model
        .getMetadata()
        .setAnnotations(
            Map.of("fairlead.io/fairness-weight", "4", "fairlead.io/queue-ttl", "1m30s"));
    Compilation compilation = PoolCompiler.compile(pool(), List.of(model, good("b")), null);
    assertThat(compilation.findings()).isEmpty();
    assertThat(config(compilation).models())
        .extracting(ModelConfig::queue)
        .containsExactly(new ModelQueueConfig(4, Duration.ofSeconds(90)), ModelQueueConfig.DEFAULT);
  }

  @Test
  void annotationsSayWhatRequestsOfAModelAskFor() {
    InferenceModel model = good("a");
    model
        .getMetadata()
        .setAnnotations(
            Map.of("fairlead.io/ttft-objective", "800ms", "fairlead.io/tpot-objective", "40ms"));
    Compilation compilation = PoolCompiler.compile(pool(), List.of(model, good("b")), null);
    assertThat(compilation.findings()).isEmpty();
    LatencyConfig asked = new LatencyConfig(Duration.ofMillis(800), Duration.ofMillis(40));
    assertThat(config(compilation).models())
        .extracting(ModelConfig::latency)
        .containsExactly(asked, LatencyConfig.UNSET);
    String document = ConfigDocument.write(config(compilation));
    assertThat(document).contains("firstToken: \"800ms\"", "eachToken: \"40ms\"");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ttft-objective | 0s",
        "ttft-objective | soon",
        "tpot-objective | 40",
        "fairness-weight | 0",
        "fairness-weight | -2",
        "fairness-weight | 1001",
        "fairness-weight | 99999999999",
        "fairness-weight | 1.5",
        "fairness-weight | much",
        "queue-ttl | 0s",
        "queue-ttl | -1s",
        "queue-ttl | 10"
      })
  void aModelWaitsAsAllDoWhereItsAnnotationIsWrong(String name, String value) {
    InferenceModel model = good("a");
    model.getMetadata().setAnnotations(Map.of("fairlead.io/" + name, value));
    Compilation compilation = PoolCompiler.compile(pool(), List.of(model), null);
    assertThat(config(compilation).models())
        .extracting(ModelConfig::queue, ModelConfig::latency)
        .containsExactly(tuple(ModelQueueConfig.DEFAULT, LatencyConfig.UNSET));
    assertThat(compilation.findings())
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.reason()).isEqualTo("InvalidAnnotation");
              assertThat(finding.message())
                  .startsWith(
                      "metadata.annotations[\"fairlead.io/%s\"] is \"%s\", expected a"
                          .formatted(name, value));
            });
  }

  @Test
  void rulesOfRewritesAreModelsUnlessAnInferenceModelHasTheName() {
    Compilation compilation =
        PoolCompiler.compile(
            pool(),
            List.of(good("chat")),
            null,
            new UpstreamObjects(
                List.of(
                    upstream("InferenceObjective", "batch", "{priority: -5, poolRef: {name: p}}"),
                    upstream("InferenceObjective", "else", "{priority: 1, poolRef: {name: q}}")),
                List.of(
                    upstream("InferenceModelRewrite", "all-lost", rules("chat")),
                    upstream("InferenceModelRewrite", "partly", rules("chat", "talk")),
                    upstream("InferenceModelRewrite", "void", "{poolRef: {name: p}, rules: []}"))));
    assertThat(config(compilation).objectives()).containsExactly(new ObjectiveConfig("batch", -5));
    assertThat(config(compilation).models())
        .extracting(ModelConfig::name, model -> model.targets().getFirst().name())
        .containsExactly(tuple("chat", "chat"), tuple("talk", "v2"));
    assertThat(compilation.accepted())
        .extracting(model -> model.object().name())
        .containsExactly("chat");
    assertThat(compilation.findings())
        .extracting(finding -> finding.object().name(), Finding::reason, Finding::severity)
        .containsExactly(
            tuple("all-lost", "ModelNameInUse", Finding.Severity.REJECTS),
            tuple("partly", "ModelNameInUse", Finding.Severity.WARNS),
            tuple("void", "InvalidSpec", Finding.Severity.REJECTS));
    assertThat(compilation.findings().getFirst().message())
        .isEqualTo(
            "spec.rules[0].matches[0].model.value is \"chat\", which belongs to InferenceModel n/chat; the match is left out");
  }

  @Test
  void aNameThatFitsIntoNoConfigKeepsNoOtherOut() throws DocumentException {
    String tooLong = "x".repeat(257);
    Compilation compilation =
        PoolCompiler.compile(
            pool(),
            List.of(),
            null,
            new UpstreamObjects(
                List.of(),
                List.of(
                    upstream("InferenceModelRewrite", "long", rules(tooLong, "talk")),
                    upstream(
                        "InferenceModelRewrite", "target", rules("chat").replace("v2", tooLong)))));
    assertThat(config(compilation).models()).extracting(ModelConfig::name).containsExactly("talk");
    assertThat(compilation.findings())
        .extracting(Finding::path)
        .containsExactly(
            "spec.rules[0].matches[0].model.value", "spec.rules[0].targets[0].modelRewrite");
    String document = ConfigDocument.write(config(compilation));
    assertThat(ConfigDocument.read("test", document).value()).isEqualTo(config(compilation));
  }

  private static String rules(String... models) {
    return "{poolRef: {name: p}, rules: [{matches: ["
        + Arrays.stream(models)
            .map("{model: {value: %s}}"::formatted)
            .collect(Collectors.joining(", "))
        + "], targets: [{modelRewrite: v2}]}]}";
  }

  private static GenericKubernetesResource upstream(String kind, String name, String spec) {
    return read(
        GenericKubernetesResource.class,
        "{kind: %s, metadata: {name: %s, namespace: n}, spec: %s}".formatted(kind, name, spec));
  }

  @Test
  void saysThatAPoolIsMissing() {
    assertThat(PoolCompiler.withoutPool(good("a")).reason()).isEqualTo("PoolNotFound");
    assertThat(PoolCompiler.withoutPool(model("a", "2026-01-01T00:00:00Z", "null")).reason())
        .isEqualTo("InvalidSpec");
    assertThat(
            PoolCompiler.withoutPool(model("a", "2026-01-01T00:00:00Z", "{modelName: m}")).reason())
        .isEqualTo("InvalidPoolRef");
  }
}
