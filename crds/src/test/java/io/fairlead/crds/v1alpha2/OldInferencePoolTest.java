package io.fairlead.crds.v1alpha2;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.utils.Serialization;
import io.fairlead.crds.v1.InferencePoolSpec;
import io.fairlead.crds.v1.ParentStatus;
import io.fairlead.crds.v1.Port;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A pool of the older group says what one of v1 would. */
class OldInferencePoolTest {

  private static final String POOL =
      """
      apiVersion: inference.networking.x-k8s.io/v1alpha2
      kind: InferencePool
      metadata: {name: pool, namespace: ns}
      spec:
        selector: {app: vllm}
        targetPortNumber: 8000
        extensionRef: {group: "", kind: Service, name: picker, portNumber: 9005, failureMode: FailOpen}
      status:
        parent:
          - parentRef: {kind: Gateway, name: gw}
          - parentRef: {%s, kind: EndpointPicker, name: mine}
            conditions: [{type: Accepted, status: "True", reason: Accepted, message: m}]
      """;

  /** Either CRD of upstream's keeps one of the two. */
  @ParameterizedTest
  @ValueSource(strings = {"apiVersion: fairlead.io/v1alpha1", "group: fairlead.io"})
  void isReadAsOneOfV1AndWrittenAsItWas(String ours) {
    OldInferencePool pool = read(POOL.formatted(ours));
    InferencePoolSpec spec = Objects.requireNonNull(pool.getSpec());
    assertThat(Objects.requireNonNull(spec.selector()).matchLabels())
        .isEqualTo(Map.of("app", "vllm"));
    assertThat(spec.targetPorts()).containsExactly(new Port(8000));
    assertThat(Objects.requireNonNull(spec.endpointPickerRef()).port()).isEqualTo(new Port(9005));
    assertThat(parents(pool))
        .extracting(ParentStatus::controllerName)
        .containsExactly(null, ParentStatus.FAIRLEAD);

    OldInferencePool again = read(Serialization.asYaml(pool));
    assertThat(again.getSpec()).isEqualTo(spec);
    assertThat(parents(again)).isEqualTo(parents(pool));
    assertThat(Serialization.asYaml(again))
        .contains("parent:", "targetPortNumber: 8000", "portNumber: 9005")
        .contains("apiVersion: \"fairlead.io/v1alpha1\"", "group: \"fairlead.io\"")
        .doesNotContain("parents", "targetPorts", "controllerName");
  }

  @Test
  void anotherKindOfOnesOwnIsNoEntryOfTheOperator() {
    assertThat(parents(read(POOL.formatted("group: example.test"))))
        .extracting(ParentStatus::controllerName)
        .containsExactly(null, null);
  }

  @Test
  void aServiceWithoutAPortHasTheUsualOne() {
    String bare = "apiVersion: inference.networking.x-k8s.io/v1alpha2\nkind: InferencePool\n";
    InferencePoolSpec spec =
        Objects.requireNonNull(read(bare + "spec: {extensionRef: {name: s}}").getSpec());
    assertThat(Objects.requireNonNull(spec.endpointPickerRef()).port()).isEqualTo(new Port(9002));
    assertThat(spec.targetPorts()).isEmpty();
    assertThat(
            Objects.requireNonNull(
                    Objects.requireNonNull(
                            read(bare + "spec: {extensionRef: {kind: Thing, name: s}}").getSpec())
                        .endpointPickerRef())
                .port())
        .isNull();
    assertThat(read(bare).getSpec()).isNull();
  }

  @Test
  void textsNameFieldsAsTheyAreCalledHere() {
    assertThat(
            OldInferencePool.inItsWords(
                "spec.endpointPickerRef.port.number, spec.endpointPickerRef.name, spec.selector.matchLabels.app, spec.targetPorts[0].number, spec.targetPorts"))
        .isEqualTo(
            "spec.extensionRef.portNumber, spec.extensionRef.name, spec.selector.app, spec.targetPortNumber, spec.targetPortNumber");
  }

  private static OldInferencePool read(String yaml) {
    return Serialization.unmarshal(yaml, OldInferencePool.class);
  }

  private static List<ParentStatus> parents(OldInferencePool pool) {
    return Objects.requireNonNull(pool.getStatus()).parents();
  }
}
