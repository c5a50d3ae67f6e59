package io.fairlead.epp.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.ObjectiveConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.crds.document.ConfigDocument;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What upstream's objects come to, those included that make no sense. */
class PoolObjectsTest {

  private static final PoolName NAME = new PoolName("ns", "p", "inference.networking.k8s.io");
  private static final PoolName OLD = new PoolName("ns", "p", "inference.networking.x-k8s.io");

  private static final String POOL =
      """
      apiVersion: inference.networking.k8s.io/v1
      kind: InferencePool
      metadata: {name: p, namespace: ns}
      spec:
        selector: {matchLabels: {app: vllm}}
        targetPorts: [{number: 8000}, {number: 8001}]
        endpointPickerRef: {name: p-epp, port: {number: 9002}}
      """;

  private final KubernetesSerialization yaml = new KubernetesSerialization();
  private final List<String> notes = new ArrayList<>();

  @Test
  void aPoolIsItsSelectorAndPortsScheduledAsTheOtherSourceSays() {
    ConfigOffer.Document scheduling = (ConfigOffer.Document) ConfigReaders.upstreamDefault();
    ConfigOffer.Document offer =
        (ConfigOffer.Document)
            new PoolObjects(object(POOL), List.of(), List.of()).offer(NAME, scheduling, notes);

    PoolConfig config = offer.config();
    assertThat(config.namespace() + "/" + config.name()).isEqualTo("ns/p");
    assertThat(config.selector()).isEqualTo(Map.of("app", "vllm"));
    assertThat(config.targetPorts()).containsExactly(8000, 8001);
    assertThat(config.scheduler()).isEqualTo(scheduling.config().scheduler());
    assertThat(config.scheduler().profiles().getFirst().plugins().toString())
        .contains("queue-scorer, weight=2.0", "kv-cache-utilization-scorer, weight=2.0")
        .contains("prefix-cache-scorer, weight=3.0");
    assertThat(offer.configHash()).isEqualTo(ConfigDocument.hash(config));
    assertThat(notes).isEmpty();
  }

  @Test
  void aPoolOfTheOldGroupIsReadAsItWasWritten() {
    PoolConfig config =
        config(
            OLD,
            """
            apiVersion: inference.networking.x-k8s.io/v1alpha2
            kind: InferencePool
            metadata: {name: p, namespace: ns}
            spec:
              selector: {app: vllm}
              targetPortNumber: 8000
              extensionRef: {name: p-epp}
            """,
            List.of(),
            List.of());
    assertThat(config.selector()).isEqualTo(Map.of("app", "vllm"));
    assertThat(config.targetPorts()).containsExactly(8000);
  }

  @Test
  void whyAPoolCannotBeRunIsTold() {
    assertThat(message(null)).isEqualTo(NAME + ": does not exist; it is read as soon as it does");
    assertThat(message("apiVersion: v1\nkind: InferencePool\nmetadata: {name: p, namespace: ns}"))
        .startsWith("InferencePool ns/p: ")
        .contains("spec is missing");
    assertThat(message(POOL.replace("number: 8001", "number: 70000")))
        .isEqualTo("InferencePool ns/p: spec.targetPorts[1].number must be a port from 1 to 65535");
    assertThat(message(POOL.replace("[{number: 8000}, {number: 8001}]", "none")))
        .contains("can't be made sense of");
  }

  @Test
  void priorityOfAnObjectiveIsItsBandAndItsCriticality() {
    PoolConfig config =
        config(
            NAME,
            POOL,
            List.of(
                objective("chat", "priority: 10"),
                objective("talk", "priority: 9"),
                objective("plain", "priority: 0"),
                objective("batch", "priority: -1"),
                objective("unset", ""),
                objective("huge", "priority: 99999999999999999999"),
                objective("tiny", "priority: -99999999999999999999"),
                object(objectiveText("else", "priority: 1").replace("name: p}", "name: q}")),
                object(objectiveText("shy", "priority: 1").replace("spec:", "sp:"))),
            List.of());
    assertThat(config.objectives())
        .containsExactly(
            new ObjectiveConfig("batch", -1),
            new ObjectiveConfig("chat", 10),
            new ObjectiveConfig("huge", Long.MAX_VALUE),
            new ObjectiveConfig("plain", 0),
            new ObjectiveConfig("talk", 9),
            new ObjectiveConfig("tiny", Long.MIN_VALUE),
            new ObjectiveConfig("unset", 0));
    assertThat(config.objectives().stream().map(ObjectiveConfig::criticality))
        .containsExactly(
            Criticality.SHEDDABLE,
            Criticality.CRITICAL,
            Criticality.CRITICAL,
            Criticality.STANDARD,
            Criticality.CRITICAL,
            Criticality.SHEDDABLE,
            Criticality.STANDARD);
  }

  @Test
  void rulesThatNameModelsAreModelsWithTargets() {
    PoolConfig config =
        config(
            NAME,
            POOL,
            List.of(),
            List.of(
                rewrite(
                    "young",
                    "2026-01-02T00:00:00Z",
                    "[{matches: [{model: {value: chat}}], targets: [{modelRewrite: late}]}]"),
                rewrite(
                    "old",
                    "2026-01-01T00:00:00Z",
                    """
                    [{matches: [{model: {type: Exact, value: chat}}, {model: {value: talk}}],
                      targets: [{modelRewrite: v1, weight: 90}, {modelRewrite: v2, weight: 10},
                                {modelRewrite: never}]},
                     {matches: [{model: {value: even}}],
                      targets: [{modelRewrite: a}, {modelRewrite: b}]}]
                    """)));
    List<TargetModel> split = List.of(new TargetModel("v1", 90), new TargetModel("v2", 10));
    assertThat(config.models())
        .containsExactly(
            new ModelConfig("chat", Criticality.STANDARD, split),
            new ModelConfig(
                "even",
                Criticality.STANDARD,
                List.of(new TargetModel("a", 1), new TargetModel("b", 1))),
            new ModelConfig("talk", Criticality.STANDARD, split));
    assertThat(notes)
        .containsExactly(
            "InferenceModelRewrite ns/young: spec.rules[0].matches[0].model.value is \"chat\","
                + " which belongs to InferenceModelRewrite ns/old, spec.rules[0]; the match is"
                + " left out");
  }

  @Test
  void whatRulesSayThatIsNotCarriedOutIsTold() {
    PoolConfig config =
        config(
            NAME,
            POOL,
            List.of(),
            List.of(
                rewrite(
                    "r",
                    "2026-01-01T00:00:00Z",
                    """
                    [{targets: [{modelRewrite: any}]},
                     {matches: [{model: {value: chat}}], targets: [{modelRewrite: ""}]},
                     {matches: [{}, {model: {type: Prefix, value: ch}}],
                      targets: [{modelRewrite: v}]},
                     {matches: [{model: {value: ok}}], targets: [{modelRewrite: v}]}]
                    """)));
    assertThat(config.models()).extracting(ModelConfig::name).containsExactly("ok");
    assertThat(notes)
        .satisfiesExactly(
            note ->
                assertThat(note)
                    .startsWith("InferenceModelRewrite ns/r: spec.rules[0].matches is empty")
                    .contains("name the models"),
            note -> assertThat(note).contains("spec.rules[1].targets has none"),
            note -> assertThat(note).contains("spec.rules[2].matches[0].model names no model"),
            note -> assertThat(note).contains("spec.rules[2].matches[1].model names no model"));
  }

  private PoolConfig config(
      PoolName name,
      String pool,
      List<GenericKubernetesResource> objectives,
      List<GenericKubernetesResource> rewrites) {
    ConfigOffer offer =
        new PoolObjects(object(pool), objectives, rewrites)
            .offer(name, (ConfigOffer.Document) ConfigReaders.upstreamDefault(), notes);
    return ((ConfigOffer.Document) offer).config();
  }

  private String message(@Nullable String pool) {
    ConfigOffer offer =
        new PoolObjects(pool == null ? null : object(pool), List.of(), List.of())
            .offer(NAME, (ConfigOffer.Document) ConfigReaders.upstreamDefault(), notes);
    return ((ConfigOffer.Unreadable) offer).message();
  }

  private GenericKubernetesResource objective(String name, String priority) {
    return object(objectiveText(name, priority));
  }

  private static String objectiveText(String name, String priority) {
    return """
    apiVersion: inference.networking.x-k8s.io/v1alpha2
    kind: InferenceObjective
    metadata: {name: %s, namespace: ns, creationTimestamp: "2026-01-01T00:00:00Z"}
    spec:
      poolRef: {group: inference.networking.k8s.io, kind: InferencePool, name: p}
      %s
    """
        .formatted(name, priority);
  }

  private GenericKubernetesResource rewrite(String name, String created, String rules) {
    return object(
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferenceModelRewrite
        metadata: {name: %s, namespace: ns, creationTimestamp: "%s"}
        spec: {poolRef: {name: p}, rules: %s}
        """
            .formatted(name, created, rules.strip().replace("\n", " ")));
  }

  private GenericKubernetesResource object(String text) {
    return yaml.unmarshal(text, GenericKubernetesResource.class);
  }
}
