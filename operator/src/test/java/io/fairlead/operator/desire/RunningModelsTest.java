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
import io.fairlead.crds.compile.SchedulingText;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.document.ConfigDocument.Written;
import io.fairlead.crds.document.DocumentException;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.children.Children;
import io.fairlead.operator.desire.CompiledPool.JudgedModel;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.ObservationBuilder;
import io.fairlead.operator.status.Replica;
import io.fairlead.operator.status.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which models every ready picker runs, whichever configs these run. */
class RunningModelsTest {
  /** The operator's data knows the type and the setting, not that it makes no sense there. */
  private static final EndpointPicker REFUSED =
      scheduled("{plugins: [{type: queue-scorer}], schedulingProfiles: [{name: a}, {name: b}]}");

  private GivenConfigs given = new GivenConfigs();
  private @Nullable EndpointPicker picker;
  private @Nullable ConfigMap map;
  private InferencePool pool = pool("app: vllm");
  private int weight = 1;

  @Test
  void aReplicaThatIsManyEditsBehindLeavesModelsRunningThatNobodyHasEdited() {
    ConfigHash first = edit().hash();
    assertThat(running(report(first), report(first))).containsExactly("chat", "talk");
    ConfigHash newest = first;
    for (int i = 0; i < 40; i++) {
      newest = edit(report(first), report(newest)).hash();
      assertThat(running(report(first), report(newest))).as("edit %s", i).containsExactly("talk");
    }
    assertThat(Objects.requireNonNull(map).getData().values())
        .as("what it runs is held no more")
        .noneMatch(text -> text.contains(first.hex()));
    assertThat(running(report(newest), report(newest))).containsExactly("chat", "talk");
  }

  @Test
  void editsThatComeFasterThanReportsLeaveOtherModelsRunning() {
    ConfigHash first = edit().hash();
    ConfigHash second = edit(report(first)).hash();
    edit(report(first));
    edit(report(first));
    assertThat(running(report(second))).containsExactly("talk");
  }

  @Test
  void aReplicaOfWhichNothingIsHeardRunsNoModelForSure() {
    ConfigHash first = edit().hash();
    assertThat(running(report(first), null)).isEmpty();
  }

  /** Only the scheduling of what a picker refuses is held back. */
  @Test
  void theRestOfARefusedConfigRunsUnderTheLastGoodScheduling() {
    Written good = edit();
    picker = REFUSED;
    Written refused = edit(report(good.hash()));
    PickerReport mixed = refuses(refused.hash(), mixed(refused, good));
    assertThat(running(refuses(refused.hash(), good.hash()))).containsExactly("talk");
    assertThat(running(mixed)).containsExactly("chat", "talk");

    Written next = edit(mixed);
    assertThat(running(mixed)).as("before it reads the next one").containsExactly("talk");
    PickerReport both = refuses(next.hash(), mixed(next, good));
    assertThat(running(both)).containsExactly("chat", "talk");

    given = new GivenConfigs();
    assertThat(running(both)).as("of a new operator").containsExactly("chat", "talk");
    weight++;
    assertThat(compiled(both).models())
        .filteredOn(JudgedModel::runs)
        .extracting(judged -> judged.model().getMetadata().getName())
        .containsExactly("talk");
  }

  /** The scheduling between two edits runs, and no ConfigMap has held it since it was reported. */
  @Test
  void theRestOfARefusedConfigRunsUnderASchedulingThatWasReplacedBeforeItWasReported() {
    Written first = edit();
    picker = scheduled("{plugins: [{type: queue-scorer}]}");
    Written good = edit(report(first.hash()));
    picker = REFUSED;
    Written refused = edit(report(first.hash()));
    PickerReport late = refuses(refused.hash(), mixed(refused, good));
    assertThat(running(late)).containsExactly("chat", "talk");
    write(late);
    String lastGood = ConfigDocument.write(read(refused).scheduledAs(read(good)));
    assertThat(lastGood()).as("what a picker that restarts runs").isEqualTo(lastGood);

    Written next = edit(late);
    assertThat(running(late)).as("before it reads the next one").containsExactly("talk");
    PickerReport both = refuses(next.hash(), mixed(next, good));
    assertThat(running(both)).containsExactly("chat", "talk");
    write(both);
    assertThat(lastGood()).as("is as good still").isEqualTo(lastGood);

    given = new GivenConfigs();
    assertThat(running(both)).as("of a new operator").containsExactly("chat", "talk");
  }

  /** What is refused takes nothing away: who is in the config that stays is served by it. */
  @ParameterizedTest
  @ValueSource(strings = {"\"app in (a,b)\": x", "fairlead.io/picker: p-epp"})
  void modelsOfTheConfigThatStaysWhenItsPoolIsRefusedGoOnAsTheyAre(String selector) {
    ConfigHash hash = edit().hash();
    pool = pool(selector);
    CompiledPool refused = compiled(report(hash));
    assertThat(refused.accepted().isFalse()).isTrue();
    assertThat(refused.models())
        .allSatisfy(model -> assertThat(model.accepted().isTrue()).isTrue())
        .allMatch(JudgedModel::runs);

    weight++;
    assertThat(compiled(report(hash)).models())
        .as("one that was edited since")
        .filteredOn(judged -> judged.model().getMetadata().getName().equals("chat"))
        .allSatisfy(
            chat -> {
              assertThat(chat.accepted().state()).isEqualTo(Verdict.State.UNKNOWN);
              assertThat(chat.accepted().message()).contains("condition Accepted of the pool");
              assertThat(chat.runs()).isFalse();
            });
    assertThat(running(report(hash))).containsExactly("talk");
  }

  private static InferencePool pool(String selector) {
    return Serialization.unmarshal(
        """
        metadata: {name: p, namespace: ns, uid: of-the-pool}
        spec:
          selector: {matchLabels: {%s}}
          targetPorts: [{number: 8000}]
          endpointPickerRef: {name: s, port: {number: 9002}}
        """
            .formatted(selector),
        InferencePool.class);
  }

  private static ConfigHash mixed(Written refused, Written good) {
    return ConfigDocument.hash(read(refused).scheduledAs(read(good)));
  }

  private static PoolConfig read(Written document) {
    try {
      return ConfigDocument.read("test", document.text()).value();
    } catch (DocumentException e) {
      throw new AssertionError(e);
    }
  }

  /** The model chat is edited, and the ConfigMap written. */
  private Written edit(PickerReport... reports) {
    weight++;
    return write(reports);
  }

  private Written write(PickerReport... reports) {
    CompiledPool compiled = compiled(reports);
    Written document = Objects.requireNonNull(compiled.document());
    map =
        new ConfigMapBuilder()
            .withNewMetadata()
            .withName("p-epp")
            .addToAnnotations(ConfigHash.ANNOTATION, document.hash().hex())
            .endMetadata()
            .addToData(Children.CONFIG_KEY, document.text())
            .build();
    String lastGood = compiled.lastGood();
    if (lastGood != null) {
      map.getData().put(Children.LAST_GOOD_KEY, lastGood);
    }
    return document;
  }

  private @Nullable String lastGood() {
    return Objects.requireNonNull(map).getData().get(Children.LAST_GOOD_KEY);
  }

  private List<String> running(@Nullable PickerReport... reports) {
    return compiled(reports).models().stream()
        .filter(JudgedModel::runs)
        .map(judged -> judged.model().getMetadata().getName())
        .toList();
  }

  private CompiledPool compiled(@Nullable PickerReport... reports) {
    List<Pod> pods = new ArrayList<>();
    List<Lease> leases = new ArrayList<>();
    for (PickerReport report : reports) {
      String uid = "pod-" + pods.size();
      pods.add(
          new PodBuilder()
              .withNewMetadata()
              .withName(uid)
              .withUid(uid)
              .endMetadata()
              .withNewStatus()
              .addNewCondition()
              .withType("Ready")
              .withStatus("True")
              .endCondition()
              .endStatus()
              .build());
      if (report != null) {
        leases.add(
            new LeaseBuilder()
                .withNewMetadata()
                .addToAnnotations(PickerReport.ANNOTATION, report.toJson())
                .addNewOwnerReference()
                .withUid(uid)
                .endOwnerReference()
                .endMetadata()
                .build());
      }
    }
    Observation seen =
        ObservationBuilder.of(pool)
            .pickers(picker == null ? List.of() : List.of(picker))
            .models(List.of(model("chat", weight), model("talk", 1)))
            .children(map == null ? List.of() : List.of(map))
            .pods(pods)
            .leases(leases)
            .build();
    return PoolDesire.compile(
        seen,
        picker,
        SchedulingText.none("is not set"),
        pods.stream().map(pod -> Replica.of(pod, seen.report(pod))).toList(),
        given);
  }

  private static InferenceModel model(String name, int weight) {
    return Serialization.unmarshal(
        """
        metadata: {name: %1$s, namespace: ns, creationTimestamp: "2026-01-01T00:00:00Z"}
        spec: {modelName: %1$s, poolRef: {name: p}, targetModels: [{name: a, weight: %2$d}]}
        """
            .formatted(name, weight),
        InferenceModel.class);
  }

  private static EndpointPicker scheduled(String scheduling) {
    return Serialization.unmarshal(
        """
        metadata: {name: mine, namespace: ns}
        spec: {poolRef: {name: p}, scheduling: %s}
        """
            .formatted(scheduling),
        EndpointPicker.class);
  }

  private static PickerReport report(ConfigHash hash) {
    return new PickerReport("ns/p", hash, 1, null, new PickerReport.Endpoints(1, 1, null));
  }

  private static PickerReport refuses(ConfigHash refused, ConfigHash hash) {
    return new PickerReport(
        "ns/p",
        hash,
        1,
        new PickerReport.Refused(refused, "it makes no sense"),
        new PickerReport.Endpoints(1, 1, null));
  }
}
