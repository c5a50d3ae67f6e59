package io.fairlead.operator.desire;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.compile.PoolCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.ObjectiveConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.children.Children;
import io.fairlead.operator.observe.ObservationBuilder;
import io.fairlead.operator.observe.Unread;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HeldConfigTest {
  private static final InferencePool POOL =
      Serialization.unmarshal(
          """
          metadata: {name: p, namespace: ns}
          spec:
            selector: {matchLabels: {app: vllm}}
            targetPorts: [{number: 8000}]
            endpointPickerRef: {name: s, port: {number: 9002}}
          """,
          InferencePool.class);
  private static final ObjectiveConfig BATCH = new ObjectiveConfig("batch", -5);
  private static final ObjectiveConfig OTHER = new ObjectiveConfig("other", 5);
  private static final PoolConfig OLD = config(List.of(), model("talk", 1));

  /** No rewrite comes to one that says how important it is. */
  private static final ModelConfig CRITICAL =
      new ModelConfig("gone", Criticality.CRITICAL, List.of(new TargetModel("a", 1)));

  private static final PoolConfig NEW =
      config(List.of(BATCH), model("chat", 1), CRITICAL, model("talk", 2));

  @Test
  void aPodThatIsBeingDeletedPutsNoOlderConfigInForceAgain() {
    assertThat(held(Unread.NOTHING, map(), refuses(null)).good())
        .as("one that stays")
        .isEqualTo(OLD);
    assertThat(held(Unread.NOTHING, map(), refuses("2026-01-01T00:00:00Z")).good()).isEqualTo(NEW);
  }

  @Test
  void whatWasSpoiledByHandGivesWayToTheLastGoodOne() {
    ConfigMap spoiled = map();
    spoiled.getData().put(Children.CONFIG_KEY, "no: [config");
    assertThat(held(Unread.NOTHING, spoiled, null).good()).isEqualTo(OLD);
  }

  @Test
  void whatWasSpoiledByHandIsNotKeptAsTheLastGoodOne() {
    ConfigMap spoiled = map();
    spoiled
        .getMetadata()
        .getAnnotations()
        .put(ConfigHash.ANNOTATION, ConfigDocument.hash(OLD).hex());
    spoiled.getData().put(Children.CONFIG_KEY, "no: [config");
    assertThat(held(Unread.NOTHING, spoiled, refuses(null)).lastGood(ConfigDocument.hash(NEW)))
        .as("the one that was the last good one before")
        .isEqualTo(ConfigDocument.write(OLD));
  }

  @Test
  void whatCannotBeReadStays() {
    PoolConfig seen = config(List.of(OTHER), model("chat", 3));
    assertThat(held(Unread.NOTHING, map(), null).completed(seen)).isEqualTo(seen);
    assertThat(held(unread("InferenceObjective"), map(), null).completed(seen))
        .isEqualTo(config(List.of(BATCH), model("chat", 3)));
    assertThat(held(unread("InferenceModelRewrite"), map(), null).completed(seen))
        .isEqualTo(config(List.of(OTHER), model("chat", 3), model("talk", 2)));
  }

  @Test
  void withoutTheConfigThatRunsNothingIsKnownOfWhatCannotBeRead() {
    PoolConfig seen = config(List.of(), model("chat", 3));
    Unread unread = unread("InferenceModelRewrite");
    assertThat(held(unread, null, null).completed(seen)).as("a new pool").isEqualTo(seen);
    assertThat(held(unread, null, refuses(null)).completed(seen)).isNull();
  }

  private static Unread unread(String kind) {
    return new Unread(Set.of(kind), List.of());
  }

  private static HeldConfig held(Unread unread, @Nullable ConfigMap map, @Nullable Pod pod) {
    PickerReport report =
        new PickerReport(
            "ns/p",
            ConfigDocument.hash(OLD),
            1,
            new PickerReport.Refused(ConfigDocument.hash(NEW), "an older image"),
            new PickerReport.Endpoints(1, 1, null));
    Lease lease =
        new LeaseBuilder()
            .withNewMetadata()
            .addToAnnotations(PickerReport.ANNOTATION, report.toJson())
            .addNewOwnerReference()
            .withUid("uid")
            .endOwnerReference()
            .endMetadata()
            .build();
    return HeldConfig.of(
        ObservationBuilder.of(POOL)
            .unread(unread)
            .children(map == null ? List.of() : List.of(map))
            .pods(pod == null ? List.of() : List.of(pod))
            .leases(List.of(lease))
            .build());
  }

  private static ConfigMap map() {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withName("p-epp")
        .addToAnnotations(ConfigHash.ANNOTATION, ConfigDocument.hash(NEW).hex())
        .endMetadata()
        .addToData(Children.CONFIG_KEY, ConfigDocument.write(NEW))
        .addToData(Children.LAST_GOOD_KEY, ConfigDocument.write(OLD))
        .build();
  }

  private static Pod refuses(@Nullable String deleted) {
    return new PodBuilder()
        .withNewMetadata()
        .withUid("uid")
        .withDeletionTimestamp(deleted)
        .endMetadata()
        .build();
  }

  private static ModelConfig model(String name, int weight) {
    return new ModelConfig(name, Criticality.STANDARD, List.of(new TargetModel("a", weight)));
  }

  private static PoolConfig config(List<ObjectiveConfig> objectives, ModelConfig... models) {
    PoolConfig empty = PoolCompiler.compile(POOL, List.of(), null).config();
    if (empty == null) {
      throw new IllegalStateException("the pool can't be compiled");
    }
    return new PoolConfig(
        empty.namespace(),
        empty.name(),
        empty.selector(),
        empty.targetPorts(),
        empty.appProtocol(),
        List.of(models),
        objectives,
        empty.requests(),
        empty.scheduler());
  }
}
