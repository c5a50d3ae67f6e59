package io.fairlead.crds.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.document.FieldError;
import io.fairlead.crds.testing.ObjectTable;
import io.fairlead.crds.testing.ObjectTable.Row;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class LocalResourceReaderTest {
  static List<Row> valid() {
    return ObjectTable.rows("valid");
  }

  static List<Row> invalid() {
    return ObjectTable.rows("invalid");
  }

  static List<Row> unknown() {
    return ObjectTable.rows("unknown");
  }

  @ParameterizedTest
  @MethodSource("valid")
  void readsWhatTheServerTakes(Row row) {
    LocalResources resources = LocalResourceReader.read("x.json", row.object());
    assertThat(resources.errors()).isEmpty();
    assertThat(resources.pools().size() + resources.models().size() + resources.pickers().size())
        .isEqualTo(1);
  }

  @ParameterizedTest
  @MethodSource({"invalid", "unknown"})
  void refusesWithTheFieldsPath(Row row) {
    LocalResources resources = LocalResourceReader.read("x.json", row.object());
    assertThat(resources.errors())
        .anySatisfy(
            error -> {
              assertThat(error.file()).isEqualTo("x.json");
              assertThat(error.path()).isEqualTo(row.expected("path"));
              assertThat(error.message()).contains(row.expected("local"));
            });
    assertThat(resources.pools()).isEmpty();
    assertThat(resources.models()).isEmpty();
    assertThat(resources.pickers()).isEmpty();
  }

  @Test
  void fillsInDefaults() {
    String pool =
        """
        apiVersion: inference.networking.k8s.io/v1
        kind: InferencePool
        metadata: {name: p}
        spec:
          selector: {matchLabels: {app: vllm}}
          targetPorts: [{number: 8000}]
          endpointPickerRef: {name: epp, port: {number: 9002}}
        """;
    LocalResources resources = LocalResourceReader.read("pool.yaml", pool);
    assertThat(resources.errors()).isEmpty();
    assertThat(resources.pools())
        .singleElement()
        .satisfies(
            p -> {
              assertThat(p.getMetadata().getNamespace()).isEqualTo("default");
              assertThat(p.getSpec().appProtocol()).isEqualTo("http");
              assertThat(Objects.requireNonNull(p.getSpec().endpointPickerRef()).kind())
                  .isEqualTo("Service");
              assertThat(Objects.requireNonNull(p.getSpec().endpointPickerRef()).failureMode())
                  .isEqualTo("FailClose");
            });
  }

  @Test
  void readsAFolderOfManyKinds(@TempDir Path folder) throws IOException {
    Files.writeString(
        folder.resolve("b.yaml"),
        """
        # two documents and an empty one
        ---
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferenceModel
        metadata: {name: one}
        spec: {modelName: m1, poolRef: {name: p}}
        ---
        ---
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferenceModel
        metadata: {name: two}
        spec: {modelName: m2, poolRef: {name: p}}
        """);
    Files.writeString(
        folder.resolve("a.yml"),
        """
        apiVersion: discovery.k8s.io/v1
        kind: EndpointSlice
        metadata: {name: s, labels: {kubernetes.io/service-name: vllm}}
        addressType: IPv4
        ports: [{name: http, port: 8000}]
        endpoints: [{addresses: [127.0.0.1], conditions: {ready: true}}]
        """);
    Files.writeString(
        folder.resolve("c.json"),
        "{\"endpoints\": [{\"name\": \"a\", \"address\": \"127.0.0.1\", \"port\": 8000}]}");
    Files.writeString(folder.resolve(".hidden.yaml"), "nonsense: [");
    Files.writeString(folder.resolve("README.md"), "nonsense: [");
    LocalResources resources = LocalResourceReader.read(folder);
    assertThat(resources.errors()).isEmpty();
    assertThat(resources.models())
        .extracting(model -> model.getMetadata().getName())
        .containsExactly("one", "two");
    assertThat(resources.slices())
        .singleElement()
        .satisfies(
            slice ->
                assertThat(slice.getEndpoints().getFirst().getAddresses())
                    .containsExactly("127.0.0.1"));
    assertThat(resources.endpoints())
        .containsExactly(new StaticEndpoint("", "a", "127.0.0.1", 8000, Map.of()));
  }

  @Test
  void namesFileLineAndFieldOfEveryError(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("models.yaml");
    Files.writeString(
        file,
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferenceModel
        metadata:
          name: one
        spec:
          modelName: m1
          criticality: Urgent
          poolRef: {name: p}
          poolRef: {name: q}
        ---
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferenceModel
        metadata: {name: Two}
        spec:
          modelName: m2
          targetModels:
          - name: a
            weight: heavy
          poolRef: {name: p}
        """);
    Files.writeString(folder.resolve("other.yaml"), "a: [1, 2\nb: {");
    Files.writeString(folder.resolve("pod.yaml"), "apiVersion: v1\nkind: Pod\n");
    assertThat(LocalResourceReader.read(folder).errors())
        .extracting(
            error -> Path.of(error.file()).getFileName() + ":" + error.line() + " " + error.path())
        .containsExactly(
            "models.yaml:9 spec.poolRef",
            "models.yaml:13 metadata.name",
            "models.yaml:18 spec.targetModels[0].weight",
            "other.yaml:2 ",
            "pod.yaml:2 kind");
  }

  @Test
  void readsEndpointsAsOthersWriteThem() {
    LocalResources resources =
        LocalResourceReader.read(
            "endpoints.yaml",
            """
            endpoints:
            - name: vllm-0
              namespace: serving
              address: 10.0.0.1
              port: "8000"
              labels: {llm-d.ai/role: decode}
            - {name: vllm-1, address: 10.0.0.2, port: 8001}
            """);
    assertThat(resources.errors()).isEmpty();
    assertThat(resources.endpoints())
        .containsExactly(
            new StaticEndpoint(
                "serving", "vllm-0", "10.0.0.1", 8000, Map.of("llm-d.ai/role", "decode")),
            new StaticEndpoint("", "vllm-1", "10.0.0.2", 8001, Map.of()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"\"http\"", "\"8000.5\"", "\"\"", "0", "\"0\"", "65536", "\"65536\"", "-1"})
  void saysWhatAPortIs(String port) {
    assertThat(
            LocalResourceReader.read(
                    "endpoints.yaml",
                    "endpoints:\n- {name: a, address: 10.0.0.1, port: " + port + "}\n")
                .errors())
        .singleElement()
        .hasToString(
            "endpoints.yaml:2: endpoints[0].port: is "
                + port
                + ", expected a port from 1 to 65535");
  }

  @Test
  void refusesASecondObjectOfTheSameName() {
    String twice =
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferenceModel
        metadata: {name: one}
        ---
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferenceModel
        metadata: {name: one, namespace: default}
        """;
    assertThat(LocalResourceReader.read("f.yaml", twice).errors())
        .singleElement()
        .extracting(FieldError::message)
        .asString()
        .contains("second InferenceModel default/one");
  }

  @Test
  void saysWhenAFileIsNotThereOrNotText(@TempDir Path folder) throws IOException {
    assertThat(LocalResourceReader.read(folder.resolve("none.yaml")).errors())
        .extracting(FieldError::message)
        .containsExactly("does not exist");
    Files.write(folder.resolve("latin.yaml"), new byte[] {'a', ':', ' ', (byte) 0xE4});
    assertThat(LocalResourceReader.read(folder).errors())
        .extracting(FieldError::message)
        .containsExactly("is not UTF-8 text; save it as UTF-8");
  }
}
