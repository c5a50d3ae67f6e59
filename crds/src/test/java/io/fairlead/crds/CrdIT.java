package io.fairlead.crds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.testing.ObjectTable;
import io.fairlead.crds.testing.ObjectTable.Row;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.crds.v1alpha2.InferenceModelSpec;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(KubeApi.class)
final class CrdIT {
  static List<Row> valid() {
    return ObjectTable.rows("valid");
  }

  static List<Row> invalid() {
    return ObjectTable.rows("invalid");
  }

  @BeforeAll
  static void install(KubernetesClient client) {
    Crds.apply(client);
  }

  @Test
  void applyingTwiceChangesNothing(KubernetesClient client) {
    List<CustomResourceDefinition> first = Crds.apply(client);
    assertThat(Crds.apply(client))
        .extracting(crd -> crd.getMetadata().getGeneration())
        .isEqualTo(first.stream().map(crd -> crd.getMetadata().getGeneration()).toList());
    assertThat(first)
        .allSatisfy(
            crd -> {
              assertThat(crd.getMetadata().getAnnotations())
                  .doesNotContainKey("inference.networking.k8s.io/bundle-version");
              assertThat(crd.getStatus().getConditions())
                  .noneMatch(c -> c.getType().equals("NonStructuralSchema"));
            });
  }

  @ParameterizedTest
  @MethodSource("valid")
  void takesValidObjects(Row row, KubernetesClient client) {
    GenericKubernetesResource object = object(row, client, "valid");
    GenericKubernetesResource stored = client.resource(object).create();
    assertThat(stored.getMetadata().getUid()).isNotEmpty();
    client.resource(stored).delete();
  }

  @ParameterizedTest
  @MethodSource("invalid")
  void refusesInvalidObjects(Row row, KubernetesClient client) {
    GenericKubernetesResource object = object(row, client, "invalid");
    assertThatThrownBy(() -> client.resource(object).create())
        .isInstanceOfSatisfying(
            KubernetesClientException.class,
            refusal -> {
              assertThat(refusal.getCode()).isEqualTo(422);
              assertThat(refusal.getMessage()).contains(row.expected("server"));
            });
  }

  @Test
  void fillsInDefaults(KubernetesClient client) {
    namespace(client, "defaults");
    GenericKubernetesResource pool =
        create(
            client,
            """
            {"apiVersion": "inference.networking.k8s.io/v1", "kind": "InferencePool",
             "metadata": {"name": "p", "namespace": "defaults"},
             "spec": {"selector": {"matchLabels": {"app": "a"}}, "targetPorts": [{"number": 1}],
                      "endpointPickerRef": {"name": "epp", "port": {"number": 9002}}}}
            """);
    InferencePool typed =
        client
            .resources(InferencePool.class)
            .inNamespace("defaults")
            .withName(pool.getMetadata().getName())
            .get();
    assertThat(typed.getSpec().appProtocol()).isEqualTo("http");
    var ref = Objects.requireNonNull(typed.getSpec().endpointPickerRef());
    assertThat(
            List.of(
                String.valueOf(ref.group()),
                String.valueOf(ref.kind()),
                String.valueOf(ref.failureMode())))
        .containsExactly("", "Service", "FailClose");
    create(
        client,
        """
        {"apiVersion": "inference.networking.x-k8s.io/v1alpha2", "kind": "InferenceModel",
         "metadata": {"name": "m", "namespace": "defaults"}, "spec": {"modelName": "m", "poolRef": {"name": "p"}}}
        """);
    assertThat(
            client
                .resources(InferenceModel.class)
                .inNamespace("defaults")
                .withName("m")
                .get()
                .getSpec())
        .isEqualTo(
            new InferenceModelSpec(
                "m",
                null,
                List.of(),
                new PoolReference("inference.networking.x-k8s.io", "InferencePool", "p")));
    create(
        client,
        """
        {"apiVersion": "fairlead.io/v1alpha1", "kind": "EndpointPicker",
         "metadata": {"name": "e", "namespace": "defaults"}, "spec": {"poolRef": {"name": "p"}}}
        """);
    EndpointPicker picker =
        client.resources(EndpointPicker.class).inNamespace("defaults").withName("e").get();
    assertThat(picker.getSpec().poolRef())
        .isEqualTo(new PoolReference("inference.networking.k8s.io", "InferencePool", "p"));
    assertThat(picker.getSpec().replicas()).isNull();
  }

  @Test
  void selectsByPoolAndModelName(KubernetesClient client) {
    namespace(client, "selectable");
    for (String name : List.of("a", "b")) {
      create(
          client,
          """
          {"apiVersion": "inference.networking.x-k8s.io/v1alpha2", "kind": "InferenceModel",
           "metadata": {"name": "%1$s", "namespace": "selectable"},
           "spec": {"modelName": "model-%1$s", "poolRef": {"name": "pool-%1$s"}}}
          """
              .formatted(name));
    }
    var models = client.resources(InferenceModel.class).inNamespace("selectable");
    assertThat(models.withField("spec.poolRef.name", "pool-a").list().getItems())
        .extracting(model -> model.getMetadata().getName())
        .containsExactly("a");
    assertThat(models.withField("spec.modelName", "model-b").list().getItems())
        .extracting(model -> model.getMetadata().getName())
        .containsExactly("b");
  }

  @Test
  void modelNameStaysAsItIs(KubernetesClient client) {
    namespace(client, "immutable");
    GenericKubernetesResource model =
        create(
            client,
            """
            {"apiVersion": "inference.networking.x-k8s.io/v1alpha2", "kind": "InferenceModel",
             "metadata": {"name": "m", "namespace": "immutable"}, "spec": {"modelName": "m", "poolRef": {"name": "p"}}}
            """);
    assertThatThrownBy(
            () ->
                client
                    .resource(model)
                    .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"spec\": {\"modelName\": \"other\"}}"))
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining("modelName cannot be changed");
  }

  @Test
  void columnsShowModelsAndTheirTargets(KubernetesClient client) throws JsonProcessingException {
    namespace(client, "columns");
    GenericKubernetesResource model =
        create(
            client,
            """
            {"apiVersion": "inference.networking.x-k8s.io/v1alpha2", "kind": "InferenceModel",
             "metadata": {"name": "m", "namespace": "columns"},
             "spec": {"modelName": "chat", "criticality": "Critical", "poolRef": {"name": "p"},
                      "targetModels": [{"name": "a", "weight": 9}, {"name": "b", "weight": 1}]}}
            """);
    String targets = "The pool sends its requests to a 90 %, b 10 %";
    Map<String, String> accepted =
        Map.of(
            "type",
            "Accepted",
            "status",
            "True",
            "reason",
            "Accepted",
            "message",
            targets,
            "lastTransitionTime",
            "2026-01-01T00:00:00Z");
    model.setAdditionalProperty("status", Map.of("conditions", List.of(accepted)));
    client.resource(model).updateStatus();
    HttpClient http = client.getHttpClient();
    HttpRequest request =
        http.newHttpRequestBuilder()
            .uri(
                client.getMasterUrl()
                    + "apis/inference.networking.x-k8s.io/v1alpha2/namespaces/columns/inferencemodels")
            .header("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
            .build();
    JsonNode table =
        new ObjectMapper().readTree(http.sendAsync(request, String.class).join().body());
    assertThat(table.path("columnDefinitions").valueStream().map(c -> c.path("name").asText()))
        .containsExactly(
            "Name",
            "Model Name",
            "Inference Pool",
            "Criticality",
            "Accepted",
            "Ready",
            "Age",
            "Reason",
            "Targets");
    JsonNode cells = table.at("/rows/0/cells");
    assertThat(List.of(cells.get(1).asText(), cells.get(3).asText(), cells.get(8).asText()))
        .containsExactly("chat", "Critical", targets);
  }

  private static GenericKubernetesResource object(
      Row row, KubernetesClient client, String namespace) {
    namespace(client, namespace);
    GenericKubernetesResource object =
        client
            .getKubernetesSerialization()
            .unmarshal(row.object(), GenericKubernetesResource.class);
    object.getMetadata().setNamespace(namespace);
    return object;
  }

  private static GenericKubernetesResource create(KubernetesClient client, String json) {
    return client
        .resource(
            client.getKubernetesSerialization().unmarshal(json, GenericKubernetesResource.class))
        .create();
  }

  private static void namespace(KubernetesClient client, String name) {
    client
        .resource(
            new NamespaceBuilder()
                .withMetadata(new ObjectMetaBuilder().withName(name).build())
                .build())
        .serverSideApply();
  }
}
