package io.fairlead.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.report.PickerReport.NotServed;
import io.fairlead.crds.report.PickerReport.Targets;
import io.fairlead.crds.v1alpha2.InferenceModelSpec;
import io.fairlead.crds.v1alpha2.TargetModel;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ReportedTargetsTest {
  private static final Targets SERVED = new Targets(List.of("a"), List.of(), List.of());
  private static final Targets EARLIER = new Targets(List.of(), List.of("a"), List.of());
  private static final Targets NOT_SERVED =
      new Targets(List.of(), List.of(), List.of(new NotServed("a", 2)));

  private static Verdict told(InferenceModelSpec model, @Nullable Targets... pickers) {
    List<Replica> replicas = Stream.of(pickers).map(ReportedTargetsTest::replica).toList();
    return ReportedTargets.of(facts(replicas)).of(model);
  }

  private static PickerFacts facts(List<Replica> replicas) {
    Verdict well = Verdict.yes(Reason.ACCEPTED, "");
    return new PickerFacts(
        new PickerFacts.Where("ns", "p-epp", "app=vllm"),
        well,
        well,
        ConfigHash.of("c"),
        null,
        replicas,
        null,
        new PickerFacts.ModelCount(1, 0, List.of()));
  }

  private static Replica replica(@Nullable Targets targets) {
    return new Replica(
        new PodBuilder()
            .withNewMetadata()
            .withName("pod")
            .endMetadata()
            .withNewStatus()
            .addNewCondition()
            .withType("Ready")
            .withStatus("True")
            .endCondition()
            .endStatus()
            .build(),
        new PickerReport(
            "ns/p",
            ConfigHash.of("c"),
            1,
            null,
            new PickerReport.Endpoints(2, 2, null),
            null,
            List.of(),
            List.of(),
            targets),
        null);
  }

  private static InferenceModelSpec model(String... targets) {
    return new InferenceModelSpec(
        "chat", null, Stream.of(targets).map(name -> new TargetModel(name, null)).toList(), null);
  }

  private static String brief(@Nullable Targets... pickers) {
    Verdict told = told(model("a"), pickers);
    return told.state().wireName() + "/" + told.reason();
  }

  @Test
  void ofSeveralPickersWhatOneHasSeenServedLatelyCounts() {
    assertThat(brief()).isEqualTo("Unknown/NotReported");
    assertThat(brief((Targets) null)).as("an older picker").isEqualTo("Unknown/NotReported");
    assertThat(brief(null, SERVED)).isEqualTo("True/TargetsServed");
    assertThat(brief(null, EARLIER)).isEqualTo("True/TargetsServed");
    assertThat(brief(null, NOT_SERVED)).isEqualTo("False/TargetModelNotServed");
    assertThat(brief(SERVED, NOT_SERVED)).isEqualTo("True/TargetsServed");
    assertThat(brief(EARLIER, NOT_SERVED)).isEqualTo("False/TargetModelNotServed");
    assertThat(brief(NOT_SERVED, EARLIER, SERVED)).isEqualTo("True/TargetsServed");
  }

  @Test
  void whoIsNotReadySaysNothing() {
    Replica going =
        new Replica(
            new PodBuilder(replica(null).pod())
                .editMetadata()
                .withDeletionTimestamp("2026-01-01T00:00:00Z")
                .endMetadata()
                .build(),
            replica(NOT_SERVED).report(),
            null);
    assertThat(ReportedTargets.of(facts(List.of(going))).of(model("a")).reason())
        .isEqualTo(Reason.NOT_REPORTED);
  }

  /** What is wrong with one comes before what is not known of another. */
  @Test
  void theMessageNamesAllThatAreMissing() {
    Targets first =
        new Targets(
            List.of("good"), List.of(), List.of(new NotServed("a", 2), new NotServed("b", 1)));
    Targets second = new Targets(List.of(), List.of(), List.of(new NotServed("a", 3)));
    assertThat(told(model("good", "a", "b", "unknown"), first, second))
        .isEqualTo(
            Verdict.no(
                Reason.TARGET_MODEL_NOT_SERVED,
                "No endpoint serves target a (3 endpoints have answered that the model is not known there, and none has served it since), b (1 endpoint has answered that the model is not known there, and none has served it since), so that requests for it fail; correct spec.targetModels, or have the pool's model servers load that model or adapter"));
    assertThat(told(model("good", "unknown", "other"), first))
        .isEqualTo(
            new Verdict(
                Verdict.State.UNKNOWN,
                Reason.NOT_REPORTED,
                "No picker has told yet whether an endpoint serves target unknown, other; answers to requests for it will show",
                null));
  }

  @Test
  void aModelWithoutTargetsIsItsOwn() {
    Targets chat = new Targets(List.of("chat"), List.of(), List.of());
    assertThat(told(model(), chat).reason()).isEqualTo(Reason.TARGETS_SERVED);
    assertThat(told(model(), SERVED).reason()).isEqualTo(Reason.NOT_REPORTED);
  }

  /** Flux and Argo CD go by Ready, and an adapter may be loaded later. */
  @Test
  void aModelWithATargetThatNobodyServesIsReadyAndSaysSo() {
    Verdict well = Verdict.yes(Reason.ACCEPTED, "");
    Verdict missing = Verdict.no(Reason.TARGET_MODEL_NOT_SERVED, "none");
    var told = ModelStatus.of(well, well, true, Map.of(), missing);
    assertThat(told).containsEntry(ConditionType.TARGETS_AVAILABLE, missing);
    assertThat(told).doesNotContainKeys(ConditionType.STALLED, ConditionType.RECONCILING);
    assertThat(told.get(ConditionType.READY))
        .isEqualTo(
            Verdict.yes(
                Reason.READY,
                "Pickers take requests for the model, but no endpoint serves all of its targets; condition TargetsAvailable says which are missing"));
    Verdict pending = Verdict.pending("wait");
    assertThat(ModelStatus.of(pending, well, false, Map.of(), missing))
        .containsEntry(
            ConditionType.TARGETS_AVAILABLE,
            Verdict.pending("Told when every ready picker runs the model as it is written"));
  }
}
