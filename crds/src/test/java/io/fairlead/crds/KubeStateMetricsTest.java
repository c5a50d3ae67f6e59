package io.fairlead.crds;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Holds the config of kube-state-metrics to our CRDs: each path that it reads is one of theirs. */
final class KubeStateMetricsTest {
  private static final Path FILE = Path.of("..", "config", "monitoring", "kube-state-metrics.yaml");

  private static final Map<String, String> CRDS =
      Map.of(
          "inference.networking.k8s.io/InferencePool",
          "manifests/inferencepools",
          "inference.networking.x-k8s.io/InferencePool",
          "testing/upstream/old-pools",
          "inference.networking.x-k8s.io/InferenceModel",
          "manifests/inferencemodels",
          "fairlead.io/EndpointPicker",
          "manifests/endpointpickers");

  static List<JsonNode> resources() throws IOException {
    return new YAMLMapper().readTree(FILE.toFile()).at("/spec/resources").valueStream().toList();
  }

  @Test
  void everyKindIsCovered() throws IOException {
    assertThat(resources())
        .map(resource -> name(resource.path("groupVersionKind")))
        .containsExactlyInAnyOrderElementsOf(CRDS.keySet());
  }

  @ParameterizedTest
  @MethodSource("resources")
  void everyPathIsAField(JsonNode resource) {
    JsonNode kind = resource.path("groupVersionKind");
    JsonNode crd = crd(Objects.requireNonNull(CRDS.get(name(kind))));
    assertThat(crd.at("/spec/group").asText()).isEqualTo(kind.path("group").asText());
    assertThat(crd.at("/spec/versions/0/name").asText()).isEqualTo(kind.path("version").asText());
    JsonNode schema = crd.at("/spec/versions/0/schema/openAPIV3Schema");
    resource.path("labelsFromPath").forEach(path -> at(schema, path));
    for (JsonNode metric : resource.path("metrics")) {
      JsonNode gauge = metric.at("/each/gauge");
      JsonNode found = at(schema, gauge.path("path"));
      JsonNode each = found.path("type").asText().equals("array") ? found.path("items") : found;
      gauge.path("labelsFromPath").forEach(path -> at(each, path));
      if (gauge.has("valueFrom")) {
        at(each, gauge.path("valueFrom"));
      }
    }
  }

  private static String name(JsonNode kind) {
    return kind.path("group").asText() + "/" + kind.path("kind").asText();
  }

  private static JsonNode at(JsonNode schema, JsonNode path) {
    assertThat(path.isArray()).as(path.toString()).isTrue();
    JsonNode here = schema;
    for (String step : texts(path).toList()) {
      if (step.startsWith("[")) {
        String key = step.substring(1, step.indexOf('='));
        here = here.path("items");
        assertThat(here.path("properties").has(key)).as(step).isTrue();
      } else if (here.path("properties").has(step)) {
        here = here.path("properties").path(step);
      } else {
        // All that a schema says of metadata is that it is an object.
        assertThat(texts(path).toList().getFirst()).as(path.toString()).isEqualTo("metadata");
      }
    }
    return here;
  }

  private static Stream<String> texts(JsonNode path) {
    return path.valueStream().map(JsonNode::asText);
  }

  private static JsonNode crd(String file) {
    String name = "/io/fairlead/crds/" + file + ".yaml";
    try (InputStream in =
        Objects.requireNonNull(KubeStateMetricsTest.class.getResourceAsStream(name))) {
      return new YAMLMapper().readTree(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
