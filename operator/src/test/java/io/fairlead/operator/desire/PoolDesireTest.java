package io.fairlead.operator.desire;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fairlead.crds.compile.PoolCompiler;
import io.fairlead.crds.compile.SchedulingText;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.desire.CompiledPool.JudgedModel;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.ObservationBuilder;
import io.fairlead.operator.observe.ServiceRef;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.SeenReasons;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Makes({Reason.INVALID_POOL_REF, Reason.ENDPOINT_PICKER_REF_MISSING})
class PoolDesireTest {

  @Test
  void aModelIsAcceptedIntoTheConfigThatThereIs() {
    Verdict accepted = judge("app: vllm").accepted();
    assertThat(accepted.isTrue()).isTrue();
    assertThat(accepted.reason()).isEqualTo(Reason.ACCEPTED);
  }

  @Test
  void noModelIsInTheConfigOfAPoolThatHasNone() {
    JudgedModel judged = judge("\"app in (a,b)\": x");
    assertThat(judged.accepted().state()).isEqualTo(Verdict.State.UNKNOWN);
    assertThat(judged.accepted().reason()).isEqualTo(Reason.PENDING);
    assertThat(judged.accepted().message()).contains("InferencePool p", "no config");
    assertThat(judged.resolvedRefs().isTrue()).isTrue();
  }

  @Test
  void anAcceptedModelSaysWhatOfItIsWrong() {
    Verdict accepted = judge("app: vllm", "{fairlead.io/timeout: soon}").accepted();
    assertThat(accepted.isTrue()).isTrue();
    assertThat(accepted.message())
        .isEqualTo(
            "The pool sends its requests to chat, but without what is wrong:"
                + " metadata.annotations[\"fairlead.io/timeout\"] is \"soon\", expected a duration as"
                + " Go writes it, such as 30s or 1m30s");
  }

  @Test
  void aModelWhoseReferenceIsToNoPoolIsTold() {
    InferenceModel model =
        Serialization.unmarshal(
            """
            metadata: {name: m, namespace: ns}
            spec: {modelName: chat, poolRef: {kind: Service, name: p}}
            """,
            InferenceModel.class);
    Verdict resolved = PoolDesire.rejected(model, PoolCompiler.withoutPool(model)).resolvedRefs();
    assertThat(resolved.isFalse()).isTrue();
    assertThat(resolved.reason()).isEqualTo(Reason.INVALID_POOL_REF);
    SeenReasons.add(resolved.reason().wireName());
  }

  @Test
  void aPoolWithoutAReferenceIsTold() {
    InferencePool pool =
        Serialization.unmarshal(
            "metadata: {name: p, namespace: ns}\nspec: {targetPorts: [{number: 8000}]}\n",
            InferencePool.class);
    Observation seen = ObservationBuilder.of(pool).build();
    assertThat(ServiceRef.of(seen))
        .isInstanceOfSatisfying(
            ServiceRef.Unresolved.class,
            broken -> {
              assertThat(broken.accepted().reason()).isEqualTo(Reason.ENDPOINT_PICKER_REF_MISSING);
              SeenReasons.add(broken.accepted().reason().wireName());
            });
  }

  /** Requests would be sent to pickers, and by a gateway of ours in circles. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "app.kubernetes.io/name: fairlead-epp",
        "app.kubernetes.io/managed-by: fairlead-operator",
        "app.kubernetes.io/part-of: fairlead, app.kubernetes.io/component: endpoint-picker",
        "app.kubernetes.io/instance: p-epp",
        "fairlead.io/picker: p-epp",
        "fairlead.io/picker: of-another-pool-epp",
      })
  void aSelectorOfPickersIsRefused(String selector) {
    CompiledPool compiled = compile(selector, null);
    assertThat(compiled.accepted().isFalse()).isTrue();
    assertThat(compiled.accepted().reason()).isEqualTo(Reason.INVALID_SPEC);
    assertThat(compiled.accepted().message())
        .contains(
            "InferencePool ns/p: spec.selector.matchLabels",
            "pods of pickers",
            "which only model servers carry");
    assertThat(compiled.document()).isNull();
  }

  @Test
  void aSelectorOfAnotherPoolsPickerIsRefused() {
    InferencePool pool = pool("app.kubernetes.io/instance: of-another-epp");
    Observation seen = ObservationBuilder.of(pool).selectsAnotherPicker(true).build();
    CompiledPool compiled = PoolDesire.compile(seen, null, SchedulingText.none("is not set"));
    assertThat(compiled.accepted().isFalse()).isTrue();
    assertThat(compiled.accepted().message())
        .contains("pods of pickers", "app.kubernetes.io/instance=of-another-epp");
    assertThat(compiled.document()).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "app: vllm",
        "app.kubernetes.io/name: vllm",
        "app.kubernetes.io/part-of: fairlead, app: vllm",
        "app.kubernetes.io/instance: of-another-epp",
      })
  void aSelectorThatLeavesPickersOutIsNone(String selector) {
    CompiledPool compiled = compile(selector, null);
    assertThat(compiled.accepted().isTrue()).isTrue();
    assertThat(compiled.document()).isNotNull();
  }

  /** Its pods don't carry them then, so the config goes on being the newest. */
  @Test
  void labelsOfAPickerByWhichItsPoolWouldSelectItAreTold() {
    CompiledPool compiled = compile("app: vllm", picker("{app: vllm, team: ml}"));
    assertThat(compiled.accepted().isFalse()).isTrue();
    assertThat(compiled.accepted().reason()).isEqualTo(Reason.INVALID_SPEC);
    assertThat(compiled.accepted().message())
        .contains("EndpointPicker ns/mine: spec.podTemplate.labels", "app=vllm", "InferencePool p")
        .doesNotContain("team");
    assertThat(compiled.document()).isNotNull();
    assertThat(compile("app: vllm, tier: gpu", picker("{app: vllm}")).accepted().isTrue())
        .as("one more label that the pods lack")
        .isTrue();
  }

  /** As where a policy puts a label on all pods, and the pool selects by that alone. */
  @Test
  void aSelectorOfPodsThatAreThePickersIsRefusedWhoeverLabelledThem() {
    CompiledPool compiled = compile("team: ml", null, pod("ml"));
    assertThat(compiled.accepted().isFalse()).isTrue();
    assertThat(compiled.accepted().message())
        .contains("spec.selector.matchLabels", "Deployment p-epp", "team=ml");
    assertThat(compiled.document()).isNull();
    assertThat(compile("team: ml", null, pod("other")).accepted().isTrue()).isTrue();
  }

  private static Pod pod(String team) {
    return Serialization.unmarshal(
        """
        metadata: {name: x, namespace: ns, labels: {fairlead.io/picker: p-epp, team: %s}}
        """
            .formatted(team),
        Pod.class);
  }

  private static EndpointPicker picker(String labels) {
    return Serialization.unmarshal(
        """
        metadata: {name: mine, namespace: ns}
        spec: {poolRef: {name: p}, podTemplate: {labels: %s}}
        """
            .formatted(labels),
        EndpointPicker.class);
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

  private static CompiledPool compile(
      String selector, @Nullable EndpointPicker picker, Pod... pods) {
    InferencePool pool = pool(selector);
    Observation seen =
        ObservationBuilder.of(pool)
            .pickers(picker == null ? List.of() : List.of(picker))
            .pods(List.of(pods))
            .build();
    return PoolDesire.compile(seen, picker, SchedulingText.none("is not set"));
  }

  private static JudgedModel judge(String selector) {
    return judge(selector, "{}");
  }

  private static JudgedModel judge(String selector, String annotations) {
    InferencePool pool = pool(selector);
    InferenceModel model =
        Serialization.unmarshal(
            """
            metadata:
              {name: m, namespace: ns, creationTimestamp: "2026-01-01T00:00:00Z", annotations: %s}
            spec: {modelName: chat, poolRef: {name: p}}
            """
                .formatted(annotations),
            InferenceModel.class);
    Observation seen = ObservationBuilder.of(pool).models(List.of(model)).build();
    CompiledPool compiled = PoolDesire.compile(seen, null, SchedulingText.none("is not set"));
    assertThat(compiled.models()).hasSize(1);
    return compiled.models().getFirst();
  }
}
