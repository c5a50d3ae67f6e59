package io.fairlead.crds;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fabric8.kubernetes.client.CustomResource;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.ExternalSpec;
import io.fairlead.crds.fairlead.v1alpha1.Frontend;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Holds the hand-written CRDs and the Java types to each other. */
final class ManifestTest {
  private static final Map<Class<?>, String> FILES =
      Map.of(
          InferencePool.class, "inferencepools",
          InferenceModel.class, "inferencemodels",
          EndpointPicker.class, "endpointpickers");

  @ParameterizedTest
  @ValueSource(classes = {InferencePool.class, InferenceModel.class, EndpointPicker.class})
  void namesMatch(Class<? extends CustomResource<?, ?>> type) {
    JsonNode crd = crd(type);
    assertThat(crd.at("/metadata/name").asText()).isEqualTo(CustomResource.getCRDName(type));
    assertThat(crd.at("/spec/names/kind").asText()).isEqualTo(type.getSimpleName());
    assertThat(texts(crd.at("/spec/names/shortNames")))
        .containsExactlyInAnyOrder(CustomResource.getShortNames(type));
    assertThat(crd.at("/spec/versions")).hasSize(1);
    assertThat(crd.at("/spec/scope").asText()).isEqualTo("Namespaced");
    assertThat(crd.at("/metadata/annotations").has("inference.networking.k8s.io/bundle-version"))
        .isFalse();
  }

  @ParameterizedTest
  @ValueSource(classes = {InferencePool.class, InferenceModel.class, EndpointPicker.class})
  void typesMatch(Class<? extends CustomResource<?, ?>> type) {
    JsonNode properties = schema(type).path("properties");
    Type[] parts = ((ParameterizedType) type.getGenericSuperclass()).getActualTypeArguments();
    compare(type.getSimpleName() + ".spec", properties.path("spec"), parts[0]);
    compare(type.getSimpleName() + ".status", properties.path("status"), parts[1]);
  }

  @ParameterizedTest
  @ValueSource(classes = {InferencePool.class, InferenceModel.class, EndpointPicker.class})
  void everyFieldIsDescribedAndEveryRequiredOneExists(Class<?> type) {
    described(type.getSimpleName(), schema(type));
  }

  @Test
  void criticalitiesAreTheConfigs() {
    JsonNode spec = schema(InferenceModel.class).at("/properties/spec/properties");
    assertThat(texts(spec.at("/criticality/enum")))
        .isEqualTo(Arrays.stream(Criticality.values()).map(Criticality::wireName).toList());
    assertThat(spec.at("/poolRef/properties/group/default").asText())
        .isEqualTo(InferenceModel.GROUP);
    assertThat(
            schema(EndpointPicker.class)
                .at("/properties/spec/properties/poolRef/properties/group/default")
                .asText())
        .isEqualTo(InferencePool.GROUP);
  }

  @Test
  void frontendsAreTheEnums() {
    assertThat(texts(schema(EndpointPicker.class).at("/properties/spec/properties/frontend/enum")))
        .isEqualTo(Frontend.wireNames());
  }

  /** An object whose other fields are open is no record; this one field of it is. */
  @Test
  void externalSchedulersMatch() {
    JsonNode scheduling =
        schema(EndpointPicker.class).at("/properties/spec/properties/scheduling/properties");
    assertThat(names(scheduling)).containsExactly("external");
    compare(
        "EndpointPicker.spec.scheduling.external", scheduling.path("external"), ExternalSpec.class);
  }

  /** One setting in two places: what the API server lets in, the document must be able to say. */
  @Test
  void requestsAreTheDocuments() throws IOException {
    JsonNode inResource =
        schema(EndpointPicker.class).at("/properties/spec/properties/requests/properties");
    JsonNode inDocument;
    try (InputStream in =
        Objects.requireNonNull(
            ManifestTest.class.getResourceAsStream("/io/fairlead/crds/document/requests.yaml"))) {
      inDocument = new YAMLMapper().readTree(in).path("properties");
    }
    same("requests", inResource, inDocument);
    assertThat(texts(inResource.at("/unconfiguredModels/enum")))
        .isEqualTo(Arrays.stream(Criticality.values()).map(Criticality::wireName).toList());
  }

  /** Of all but what is said to people, and forms of text that the document is stricter about. */
  private static void same(String path, JsonNode one, JsonNode other) {
    assertThat(names(one)).as(path).isEqualTo(names(other));
    for (String name : names(one)) {
      JsonNode mine = one.path(name);
      JsonNode others = other.path(name);
      for (String key : List.of("type", "format", "enum", "minimum", "maximum")) {
        assertThat(mine.path(key)).as(path + "." + name + " " + key).isEqualTo(others.path(key));
      }
      same(path + "." + name, mine.path("properties"), others.path("properties"));
    }
  }

  private static Set<String> names(JsonNode object) {
    Set<String> names = new HashSet<>();
    object.fieldNames().forEachRemaining(names::add);
    return names;
  }

  private static void described(String path, JsonNode schema) {
    assertThat(texts(schema.path("required")))
        .as(path)
        .allMatch(name -> schema.path("properties").has(name));
    JsonNode preset = schema.path("default");
    if (!preset.isMissingNode() && schema.has("enum")) {
      assertThat(texts(schema.path("enum"))).as(path).contains(preset.asText());
    }
    if (!path.endsWith(".metadata")) {
      assertThat(schema.path("description").asText()).as(path).isNotBlank();
    }
    schema
        .path("properties")
        .properties()
        .forEach(e -> described(path + "." + e.getKey(), e.getValue()));
    for (String inner : List.of("items", "additionalProperties")) {
      if (schema.has(inner)) {
        described(path + "[]", schema.path(inner));
      }
    }
  }

  private static void compare(String path, JsonNode schema, Type type) {
    if (schema.path("x-kubernetes-preserve-unknown-fields").asBoolean()) {
      assertThat(type).as(path).isEqualTo(JsonNode.class);
      return;
    }
    if (schema.path("x-kubernetes-int-or-string").asBoolean()) {
      assertThat(type).as(path).isEqualTo(JsonNode.class);
      return;
    }
    switch (schema.path("type").asText()) {
      case "string" -> assertThat(type).as(path).isEqualTo(String.class);
      case "boolean" -> assertThat(type).as(path).isEqualTo(Boolean.class);
      case "integer" ->
          assertThat(type)
              .as(path)
              .isEqualTo(
                  schema.path("format").asText().equals("int64") ? Long.class : Integer.class);
      case "array" -> {
        assertThat(((ParameterizedType) type).getRawType()).as(path).isEqualTo(List.class);
        compare(
            path + "[]",
            schema.path("items"),
            ((ParameterizedType) type).getActualTypeArguments()[0]);
      }
      case "object" -> compareObject(path, schema, type);
      default -> throw new AssertionError(path + " has no type that the Java types know");
    }
  }

  private static void compareObject(String path, JsonNode schema, Type type) {
    if (schema.has("additionalProperties")) {
      assertThat(((ParameterizedType) type).getRawType()).as(path).isEqualTo(Map.class);
      return;
    }
    Class<?> owner = (Class<?>) type;
    Set<String> fields = new HashSet<>();
    schema.path("properties").fieldNames().forEachRemaining(fields::add);
    if (!owner.isRecord()) {
      // The client's own types; the schema may hold less than they do, never more.
      Set<String> known = new HashSet<>();
      Arrays.stream(owner.getDeclaredFields()).forEach(field -> known.add(field.getName()));
      assertThat(known).as(path).containsAll(fields);
      return;
    }
    assertThat(Arrays.stream(owner.getRecordComponents()).map(RecordComponent::getName))
        .as(path)
        .containsExactlyInAnyOrderElementsOf(fields);
    for (RecordComponent component : owner.getRecordComponents()) {
      compare(
          path + "." + component.getName(),
          schema.path("properties").path(component.getName()),
          component.getGenericType());
    }
  }

  private static JsonNode schema(Class<?> type) {
    return crd(type).at("/spec/versions/0/schema/openAPIV3Schema");
  }

  private static JsonNode crd(Class<?> type) {
    String file = "/io/fairlead/crds/manifests/" + FILES.get(type) + ".yaml";
    try (InputStream in = Objects.requireNonNull(ManifestTest.class.getResourceAsStream(file))) {
      return new YAMLMapper().readTree(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> texts(JsonNode list) {
    return list.valueStream().map(JsonNode::asText).toList();
  }
}
