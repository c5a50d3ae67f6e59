package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.autoscaling.v2.CrossVersionObjectReference;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.HTTPBackendRef;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.HTTPRoute;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.HTTPRouteRule;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The samples on a real API server: all are taken, and the operator says of each what it says. */
@ExtendWith(KubeApi.class)
class SamplesIT {
  private static final Path SAMPLES = Path.of("..", "config", "samples");

  /** How a sample of a feature begins. */
  private static final Pattern PROMISE =
      Pattern.compile("# Accepted=(True|False)(?:, the message names ([a-zA-Z.]+))?:");

  static List<Path> features() throws IOException {
    return files(SAMPLES.resolve("features"));
  }

  @Test
  void anApiServerTakesTheFirstOnes(KubeApi.Running server) throws IOException {
    Installed cluster = Installed.on(server);
    String namespace = cluster.namespace("samples");
    assertThat(files(SAMPLES)).hasSizeGreaterThan(4);
    for (Path file : files(SAMPLES)) {
      for (HasMetadata object : apply(cluster.admin(), namespace, file)) {
        assertThat(object.getMetadata().getUid()).isNotBlank();
      }
    }
  }

  /** The Gateway API's kinds are on no API server here: their model says what fields there are. */
  @Test
  void theRouteLeadsToThePoolOfTheFirstOnes() throws IOException {
    String text = Files.readString(SAMPLES.resolve("gateway-api/httproute.yaml"));
    HTTPRoute route = Serialization.unmarshal(text, HTTPRoute.class);
    assertThat(route.getSpec().getAdditionalProperties()).isEmpty();
    HTTPRouteRule rule = route.getSpec().getRules().getFirst();
    assertThat(rule.getAdditionalProperties()).isEmpty();
    assertThat(rule.getTimeouts().getRequest()).isEqualTo("600s");
    HTTPBackendRef backend = rule.getBackendRefs().getFirst();
    assertThat(backend.getAdditionalProperties()).isEmpty();
    InferencePool pool =
        Serialization.unmarshal(
            Files.readString(SAMPLES.resolve("inferencepool.yaml")), InferencePool.class);
    assertThat(backend.getGroup()).isEqualTo(InferencePool.GROUP);
    assertThat(backend.getKind()).isEqualTo(pool.getKind());
    assertThat(backend.getName()).isEqualTo(pool.getMetadata().getName());
  }

  @Test
  void anApiServerTakesTheAutoscalerAsItStands(KubeApi.Running server) throws IOException {
    Installed cluster = Installed.on(server);
    String namespace = cluster.namespace("autoscaling");
    List<HasMetadata> servers =
        apply(cluster.admin(), namespace, SAMPLES.resolve("model-servers.yaml"));
    Path file = SAMPLES.resolve("autoscaling").resolve("hpa.yaml");
    assertThat(apply(cluster.admin(), namespace, file)).hasSize(1);
    HorizontalPodAutoscaler taken =
        cluster
            .admin()
            .autoscaling()
            .v2()
            .horizontalPodAutoscalers()
            .inNamespace(namespace)
            .withName("sample-model-servers")
            .require();
    CrossVersionObjectReference target = taken.getSpec().getScaleTargetRef();
    assertThat(servers)
        .as("what is scaled is among the samples")
        .anyMatch(
            one ->
                one.getKind().equals(target.getKind())
                    && one.getMetadata().getName().equals(target.getName()));
    assertThat(taken.getSpec().getMetrics())
        .allSatisfy(
            metric -> {
              assertThat(metric.getExternal().getTarget().getType()).isEqualTo("Value");
              assertThat(metric.getExternal().getTarget().getValue()).isNotNull();
            })
        .map(metric -> metric.getExternal().getMetric().getName())
        .containsExactly("fairlead_pool_queue_seconds", "fairlead_pool_saturation");
  }

  /** Two monitors may choose a pod: Prometheus then has its series twice. */
  @ParameterizedTest
  @ValueSource(strings = {"keda.yaml", "prometheus-adapter.yaml"})
  void aPodsQueueIsAddedUpOnce(String file) throws IOException {
    assertThat(Files.readString(SAMPLES.resolve("autoscaling").resolve(file)).lines())
        .filteredOn(line -> line.contains("sum") && line.contains("fairlead_pool_queue_seconds"))
        .isNotEmpty()
        .allMatch(
            line ->
                line.matches(".*sum.*\\(max by \\((namespace, )?pod\\) \\(fairlead_pool_queue.*"));
  }

  /** What the adapter makes of its templates for the autoscaler among the samples. */
  @Test
  void anAutoscalerIsToldOfItsOwnPoolAlone() throws IOException {
    JsonNode rules =
        new YAMLMapper().readTree(SAMPLES.resolve("autoscaling/prometheus-adapter.yaml").toFile());
    assertThat(rules.at("/rules/external"))
        .hasSize(2)
        .allSatisfy(
            rule -> {
              String query =
                  rule.path("metricsQuery")
                      .asText()
                      .replace("<<index .LabelValuesByName \"namespace\">>", "default")
                      .replace("<<or (index .LabelValuesByName \"pool\") \".+\">>", "sample");
              assertThat(query)
                  .contains(
                      rule.at("/name/as").asText()
                          + "{namespace=\"default\",pod=~\"(sample)-epp-[a-z0-9]+-[a-z0-9]+\"}")
                  .doesNotContain("<<");
            });
  }

  @ParameterizedTest
  @MethodSource("features")
  void aFeatureDoesWhatItsCommentSays(Path file, KubeApi.Running server) throws IOException {
    Installed cluster = Installed.on(server);
    PoolFixture fixture = new PoolFixture(cluster.admin(), cluster.namespace("feature"));
    Matcher promise = PROMISE.matcher(Files.readString(file));
    assertThat(promise.lookingAt()).as("%s begins with what it shows", file).isTrue();
    apply(cluster.admin(), fixture.namespace(), SAMPLES.resolve("inferencepool.yaml"));
    try (var operator = new OperatorUnderTest(cluster, fixture, false)) {
      assertThat(operator.writes()).isNotNull();
      assertThat(apply(cluster.admin(), fixture.namespace(), file))
          .map(HasMetadata::getKind)
          .containsExactly("EndpointPicker");
      await()
          .untilAsserted(
              () ->
                  assertThat(accepted(cluster.admin(), fixture.namespace()))
                      .hasValueSatisfying(
                          condition -> {
                            assertThat(condition.getStatus()).isEqualTo(promise.group(1));
                            if (promise.group(2) != null) {
                              assertThat(condition.getMessage()).contains(promise.group(2));
                            }
                          }));
    }
  }

  private static Optional<Condition> accepted(KubernetesClient admin, String namespace) {
    InferencePool pool =
        admin.resources(InferencePool.class).inNamespace(namespace).withName("sample").require();
    return Stream.ofNullable(pool.getStatus())
        .flatMap(status -> status.parents().stream())
        .flatMap(parent -> parent.conditions().stream())
        .filter(condition -> condition.getType().equals("Accepted"))
        .findFirst();
  }

  private static List<HasMetadata> apply(KubernetesClient admin, String namespace, Path file)
      throws IOException {
    try (var in = Files.newInputStream(file)) {
      return admin.load(in).inNamespace(namespace).serverSideApply();
    }
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> found = Files.list(folder)) {
      return found.filter(file -> file.toString().endsWith(".yaml")).sorted().toList();
    }
  }
}
