package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBinding;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.testing.Installed;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The shipped admission policies on an API server of its own, which they would warn all tests of.
 */
class AdmissionIT {
  private static final Path POLICIES = Path.of("..", "config", "admission", "policies.yaml");
  private static final String SETTLED = "inference.networking.k8s.io/v1";
  private static final String OLD = "inference.networking.x-k8s.io/v1alpha2";

  private static final String GOOD_POOL =
      "{selector: {matchLabels: {'app.kubernetes.io/name': vllm, app: x}}, targetPorts: [{number: 8000}], endpointPickerRef: {name: p-epp, port: {number: 9002}}}";

  private static final String GOOD_OLD_POOL =
      "{selector: {'app.kubernetes.io/name': vllm, app: x}, targetPortNumber: 8000, extensionRef: {name: p-epp}}";

  private static KubeApi.Running server;
  private static KubernetesClient client;
  private static String namespace;
  private static final List<String> WARNINGS = new CopyOnWriteArrayList<>();

  @BeforeAll
  static void install() throws IOException {
    server = KubeApi.Running.start();
    Installed cluster = Installed.on(server);
    Crds.upstream(cluster.admin(), "inference.networking.x-k8s.io");
    Crds.upstream(cluster.admin(), "llm-d.ai");
    Crds.oldPools(cluster.admin());
    namespace = cluster.namespace("admission");
    client =
        new KubernetesClientBuilder()
            .withConfig(Config.fromKubeconfig(server.kubeConfig()))
            .withHttpClientBuilderConsumer(
                http -> http.addOrReplaceInterceptor("warnings", new Warnings()))
            .build();
    try (InputStream in = Files.newInputStream(POLICIES)) {
      client.load(in).serverSideApply();
    }
    // Policies are in force a moment after they are stored.
    for (String kind : List.of("InferenceModel", "InferenceObjective", "InferenceModelRewrite")) {
      await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () ->
                  !apply(OLD, kind, "{poolRef: {kind: Other, name: p}, modelName: m, rules: []}")
                      .isEmpty());
    }
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                !apply(OLD, "InferencePool", GOOD_OLD_POOL.replace("name: p-epp", "name: P!"))
                    .isEmpty());
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                !apply(SETTLED, "InferencePool", GOOD_POOL.replace("name: p-epp", "name: P!"))
                    .isEmpty());
  }

  @AfterAll
  static void stop() {
    client.close();
    server.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "InferencePool | {selector: {matchLabels: {'app in (a,b),tier': x}}, targetPorts: [{number: 8000}], endpointPickerRef: {name: e, port: {number: 1}}} | spec.selector.matchLabels has the key \"app in (a,b),tier\" | write the key and the value of one label",
        "InferencePool | {selector: {matchLabels: {app: x}}, targetPorts: [{number: 8000}]} | spec.endpointPickerRef is missing | name a Service there",
        "InferencePool | {selector: {matchLabels: {app: x}}, targetPorts: [{number: 8000}], endpointPickerRef: {group: g, kind: Other, name: e}} | spec.endpointPickerRef is to something else | leave group and kind out",
        "InferencePool | {selector: {matchLabels: {app: x}}, targetPorts: [{number: 8000}], endpointPickerRef: {name: 'Bad Name!', port: {number: 1}}} | spec.endpointPickerRef.name is \"Bad Name!\" | use at most 63 of a-z",
        "OldPool | {selector: {}, targetPortNumber: 1, extensionRef: {name: x}} | spec.selector is empty | name at least one label",
        "OldPool | {selector: {'app in (a,b)': x}, targetPortNumber: 1, extensionRef: {name: x}} | spec.selector has the key \"app in (a,b)\" | write the key and the value of one label",
        "OldPool | {selector: {a: b}, targetPortNumber: 1, extensionRef: {group: g, kind: Other, name: x}} | spec.extensionRef is to something else | leave group and kind out",
        "OldPool | {selector: {a: b}, targetPortNumber: 1, extensionRef: {name: 'Bad Name!'}} | spec.extensionRef.name is \"Bad Name!\" | use at most 63 of a-z",
        "InferenceModel |  | spec.poolRef is missing | name the InferencePool",
        "InferenceModel | {modelName: '', poolRef: {name: p}} | spec.modelName is empty | name the model",
        "InferenceModel | {modelName: m, poolRef: {name: p}, targetModels: [{name: ''}]} | spec.targetModels has a target with an empty name | name what the model servers serve",
        "InferenceModel | {modelName: m, poolRef: {name: p}, targetModels: [{name: a}, {name: a}]} | spec.targetModels names a target twice | raise its weight",
        "InferenceModel | {modelName: m, poolRef: {kind: Service, name: p}} | spec.poolRef.kind is Service | set it to InferencePool",
        "InferenceModel | {modelName: m, poolRef: {group: '', name: p}} | spec.poolRef.group is \"\" | set it to inference.networking.k8s.io",
        "InferenceObjective | {poolRef: {kind: Service, name: p}} | spec.poolRef.kind is Service | set it to InferencePool",
        "InferenceObjective | {poolRef: {group: g, name: p}} | spec.poolRef.group is \"g\" | set it to inference.networking.k8s.io",
        "InferenceModelRewrite | {poolRef: {name: p}, rules: []} | spec.rules is empty | name models in it",
        "InferenceModelRewrite | {poolRef: {name: p}, rules: [{targets: [{modelRewrite: a}]}]} | spec.rules has a rule without matches | name the models in matches",
        "InferenceModelRewrite | {poolRef: {name: p}, rules: [{matches: [{model: {value: m}}], targets: [{modelRewrite: ''}]}]} | spec.rules has a target with an empty modelRewrite | name what the model servers serve",
        "InferenceModelRewrite | {poolRef: {name: p}, rules: [{matches: [{model: {value: m}}], targets: [{modelRewrite: a, weight: 1}, {modelRewrite: b}]}]} | spec.rules has a rule with a weight on some targets only | set it on every target or on none",
        "InferenceModelRewrite | {poolRef: {kind: Service, name: p}, rules: [{matches: [{model: {value: m}}], targets: [{modelRewrite: a}]}]} | spec.poolRef.kind is Service | set it to InferencePool",
      })
  void warnsOfWhatCannotBeCarriedOutAndRefusesNothing(
      String kind, @Nullable String spec, String wrong, String fix) {
    boolean old = kind.equals("OldPool");
    String version = kind.equals("InferencePool") ? SETTLED : OLD;
    // Returns only if the object was stored.
    List<String> warnings = apply(version, old ? "InferencePool" : kind, spec);
    assertThat(warnings).singleElement().asString().contains(wrong, fix);
  }

  @Test
  void ofGoodObjectsNothingIsSaid() {
    assertThat(apply(SETTLED, "InferencePool", GOOD_POOL)).isEmpty();
    assertThat(apply(OLD, "InferencePool", GOOD_OLD_POOL)).isEmpty();
    assertThat(
            apply(
                OLD,
                "InferenceModel",
                "{modelName: m, poolRef: {name: p}, targetModels: [{name: a, weight: 1}, {name: b, weight: 2}]}"))
        .isEmpty();
    for (String group : List.of(OLD, "llm-d.ai/v1alpha2")) {
      assertThat(apply(group, "InferenceObjective", "{priority: 99999999999, poolRef: {name: p}}"))
          .isEmpty();
      assertThat(
              apply(
                  group,
                  "InferenceModelRewrite",
                  "{poolRef: {name: p}, rules: [{matches: [{model: {value: m}}], targets: [{modelRewrite: a}]}]}"))
          .isEmpty();
    }
  }

  @Test
  void theOtherGroupIsLookedAtToo() {
    assertThat(apply("llm-d.ai/v1alpha2", "InferenceObjective", "{poolRef: {kind: X, name: p}}"))
        .singleElement()
        .asString()
        .contains("spec.poolRef.kind is X");
  }

  @Test
  void nobodyIsRefusedUnlessTheClusterWantsIt() {
    var bindings = client.resources(ValidatingAdmissionPolicyBinding.class);
    assertThat(bindings.list().getItems())
        .hasSize(5)
        .allSatisfy(
            binding ->
                assertThat(binding.getSpec().getValidationActions())
                    .containsExactlyInAnyOrder("Warn", "Audit"));
  }

  /** Stores the object and says what the API server warned of. */
  private static List<String> apply(String version, String kind, @Nullable String spec) {
    WARNINGS.clear();
    String yaml =
        "apiVersion: %s\nkind: %s\nmetadata: {generateName: x-}\n%s"
            .formatted(version, kind, spec == null ? "" : "spec: " + spec + "\n");
    for (HasMetadata object :
        client.load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8))).items()) {
      client.resource(object).inNamespace(namespace).create();
    }
    return new ArrayList<>(WARNINGS);
  }

  private static final class Warnings implements Interceptor {
    @Override
    public void after(
        HttpRequest request,
        HttpResponse<?> response,
        AsyncBody.Consumer<List<ByteBuffer>> consumer) {
      if (request.method().equals("POST")) {
        // Within quotes of its own.
        response.headers("Warning").forEach(warning -> WARNINGS.add(warning.replace("\\\"", "\"")));
      }
    }
  }
}
