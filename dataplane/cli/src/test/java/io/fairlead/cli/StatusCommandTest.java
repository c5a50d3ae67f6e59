package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StatusCommandTest {
  private static final String OBJECTS =
      """
      apiVersion: v1
      kind: List
      items:
        - apiVersion: inference.networking.k8s.io/v1
          kind: InferencePool
          metadata: {name: chat, namespace: team}
          status:
            parents:
              - controllerName: example.com/gateway
                parentRef: {name: gw}
                conditions: [{type: Ready, status: "False", reason: Others}]
              - controllerName: fairlead.io/operator
                parentRef: {name: tuned, kind: EndpointPicker}
                conditions:
                  - {type: Accepted, status: "True", reason: Accepted}
                  - {type: Ready, status: "True", reason: Ready, message: all is well}
        - apiVersion: inference.networking.k8s.io/v1
          kind: InferencePool
          metadata: {name: bare, namespace: team}
          status:
            parents:
              - controllerName: fairlead.io/operator
                parentRef: {name: bare-epp, kind: EndpointPicker}
                conditions:
                  - {type: Ready, status: "False", reason: ImagePullFailed, message: see the image}
        - apiVersion: inference.networking.k8s.io/v1
          kind: InferencePool
          metadata: {name: others, namespace: apart}
        - apiVersion: inference.networking.x-k8s.io/v1alpha2
          kind: InferencePool
          metadata: {name: old, namespace: team}
          status:
            parent:
              - parentRef: {kind: Gateway, name: gw}
                conditions: [{type: Ready, status: "True", reason: Others}]
              - parentRef: {apiVersion: fairlead.io/v1alpha1, kind: EndpointPicker, name: old-epp}
                conditions: [{type: Ready, status: "True", reason: Ready}]
        - apiVersion: inference.networking.x-k8s.io/v1alpha2
          kind: InferencePool
          metadata: {name: chat, namespace: team}
          status:
            parent:
              - parentRef: {group: fairlead.io, kind: EndpointPicker, name: tuned}
                conditions: [{type: Ready, status: "False", reason: Superseded}]
        - apiVersion: fairlead.io/v1alpha1
          kind: EndpointPicker
          metadata: {name: tuned, namespace: team}
          spec: {poolRef: {name: chat}}
          status:
            replicas: 2
            readyReplicas: 2
            configHash: 0123456789abcdef
            image: example.test/epp:1
            models: {accepted: 9, rejected: 1}
            endpoints: {matching: 4, ready: 3}
            conditions: [{type: Ready, status: "True", reason: Ready, message: all is well}]
        - apiVersion: inference.networking.x-k8s.io/v1alpha2
          kind: InferenceModel
          metadata: {name: one, namespace: team}
          spec: {modelName: org/one, poolRef: {name: chat}}
          status:
            conditions:
              - {type: Accepted, status: "True", reason: Accepted}
              - {type: Ready, status: "True", reason: Ready, message: served}
        - apiVersion: inference.networking.x-k8s.io/v1alpha2
          kind: InferenceModel
          metadata: {name: two, namespace: team}
          spec: {modelName: org/one, poolRef: {name: chat}}
          status:
            conditions:
              - {type: Accepted, status: "False", reason: ModelNameInUse}
              - {type: Ready, status: "False", reason: ModelNameInUse, message: rename it}
      """;

  @TempDir private Path folder;

  private String objects() throws IOException {
    return Files.writeString(folder.resolve("objects.yaml"), OBJECTS).toString();
  }

  @Test
  void tellsOfEachPoolInARow() throws IOException {
    ProgramRun run = ProgramRun.of("status", "-n", "team", objects());
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out().lines())
        .containsExactly(
            "POOL   READY   ENDPOINTS   MODELS   PICKER     REASON",
            "bare   False   -           0/0      bare-epp   ImagePullFailed",
            "chat   True    3/4         1/2      tuned      Ready",
            "chat   False   -           -        tuned      Superseded",
            "old    True    -           0/0      old-epp    Ready");
  }

  @Test
  void saysWhoseNamespaceAndWhatIsNotServed() throws IOException {
    assertThat(ProgramRun.of("status", "-A", objects()).out().lines())
        .containsExactly(
            "NAMESPACE   POOL     READY   ENDPOINTS   MODELS   PICKER     REASON",
            "apart       others   -       -           -        -          NotServedByFairlead",
            "team        bare     False   -           0/0      bare-epp   ImagePullFailed",
            "team        chat     True    3/4         1/2      tuned      Ready",
            "team        chat     False   -           -        tuned      Superseded",
            "team        old      True    -           0/0      old-epp    Ready");
  }

  @Test
  void wideTellsOfModelsAndPickersToo() throws IOException {
    assertThat(ProgramRun.of("status", "-n", "team", "-o", "wide", objects()).out().lines())
        .containsSubsequence(
            "MODEL   NAME      POOL   READY   REASON           MESSAGE",
            "one     org/one   chat   True    Ready",
            "two     org/one   chat   False   ModelNameInUse   rename it",
            "",
            "PICKER   POOL   READY   REPLICAS   CONFIG     IMAGE                REASON   MESSAGE",
            "tuned    chat   True    2/2        01234567   example.test/epp:1   Ready");
  }

  /** As where a picker of another pool has the name that an entry of a pool without one has. */
  @Test
  void aPickerOfAnotherPoolIsNotAsked() throws IOException {
    String objects =
        """
        apiVersion: v1
        kind: List
        items:
          - apiVersion: inference.networking.k8s.io/v1
            kind: InferencePool
            metadata: {name: bare, namespace: team}
            status:
              parents:
                - controllerName: fairlead.io/operator
                  parentRef: {name: bare-epp, kind: EndpointPicker}
                  conditions: [{type: Ready, status: "True", reason: Ready}]
          - apiVersion: fairlead.io/v1alpha1
            kind: EndpointPicker
            metadata: {name: bare-epp, namespace: team}
            spec: {poolRef: {name: other}}
            status:
              models: {accepted: 9, rejected: 1}
              endpoints: {matching: 4, ready: 3}
        """;
    String file = Files.writeString(folder.resolve("other.yaml"), objects).toString();
    assertThat(ProgramRun.of("status", "-n", "team", file).out().lines())
        .containsExactly(
            "POOL   READY   ENDPOINTS   MODELS   PICKER     REASON",
            "bare   True    -           0/0      bare-epp   Ready");
  }

  /** The operator gives its entry another name then. */
  @Test
  void aPickerWhoseNameAGatewayHasIsFoundByItsPool() throws IOException {
    String renamed =
        OBJECTS.replace(
            "parentRef: {name: tuned, kind: EndpointPicker}",
            "parentRef: {name: chat-epp, kind: EndpointPicker}");
    String file = Files.writeString(folder.resolve("renamed.yaml"), renamed).toString();
    assertThat(ProgramRun.of("status", "-n", "team", file).out().lines())
        .contains("chat   True    3/4         1/2      tuned      Ready");
  }

  @Test
  void withoutModelsItCountsAsThePickerDoes() throws IOException {
    String pools =
        OBJECTS.substring(
            0,
            OBJECTS.indexOf(
                "  - apiVersion: inference.networking.x-k8s.io/v1alpha2\n    kind: InferenceModel"));
    String file = Files.writeString(folder.resolve("pools.yaml"), pools).toString();
    assertThat(ProgramRun.of("status", "-n", "team", file).out().lines())
        .anyMatch(line -> line.contains("9/10"));
  }

  @Test
  void whatIsAskedForWronglyIsSaid() throws IOException {
    assertThat(ProgramRun.of("status", "-n", "nowhere", objects()).out().lines())
        .containsExactly("There is no InferencePool here.");
    assertThat(ProgramRun.of("status", "-o", "json", objects()))
        .matches(run -> run.exitCode() == 2 && run.err().contains("--output: json is not known"));
    assertThat(ProgramRun.of("status", "-n", "a b", objects()))
        .matches(run -> run.exitCode() == 2 && run.err().contains("\"a b\" is no name"));
    assertThat(ProgramRun.of("status", "-A", "-n", "x", objects()).exitCode()).isEqualTo(2);
    assertThat(ProgramRun.of("status", folder.resolve("none").toString()).err())
        .contains("is not there");
    String broken = Files.writeString(folder.resolve("broken.yaml"), "a: [").toString();
    assertThat(ProgramRun.of("status", broken))
        .matches(run -> run.exitCode() == 1 && run.err().contains("is not valid YAML"));
  }

  /** As {@code kubectl get -A -o yaml} prints of a large cluster. */
  @Test
  void aListOfALargeClusterIsRead() throws IOException {
    StringBuilder list = new StringBuilder("apiVersion: v1\nkind: List\nitems:\n");
    String filler = "x".repeat(5_000);
    for (int i = 0; i < 1_000; i++) {
      list.append(
          """
          - apiVersion: inference.networking.k8s.io/v1
            kind: InferencePool
            metadata: {name: pool-%d, namespace: team, annotations: {about: %s}}
          """
              .formatted(i, filler));
    }
    String file = Files.writeString(folder.resolve("large.yaml"), list).toString();
    ProgramRun run = ProgramRun.of("status", file);
    assertThat(run.err()).isEmpty();
    assertThat(run.out().lines()).hasSize(1_001);
    ProgramRun converted = ProgramRun.of("convert", file);
    assertThat(converted.err()).isEmpty();
    assertThat(converted.out()).hasSize(list.length());
  }

  @Test
  void whatCannotBeReadIsNamed() throws IOException {
    for (String command : List.of("status", "convert")) {
      assertThat(ProgramRun.of(command, folder.toString()))
          .as(command)
          .matches(run -> run.exitCode() == 1)
          .extracting(ProgramRun::err)
          .isEqualTo(command + ": " + folder + ": is a folder, expected a file\n");
      Path latin = Files.write(folder.resolve("latin.yaml"), new byte[] {'a', (byte) 0xe4, '\n'});
      assertThat(ProgramRun.of(command, latin.toString()).err())
          .isEqualTo(command + ": " + latin + ": is not UTF-8 text; save it as UTF-8\n");
      Path huge = folder.resolve("huge.yaml");
      try (RandomAccessFile file = new RandomAccessFile(huge.toFile(), "rw")) {
        file.setLength((32 << 20) + 1);
      }
      assertThat(ProgramRun.of(command, huge.toString()).err())
          .isEqualTo(command + ": " + huge + ": is longer than 32 MiB; split it\n");
    }
  }
}
