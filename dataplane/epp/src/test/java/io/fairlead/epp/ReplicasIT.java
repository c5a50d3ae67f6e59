package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.testing.TestPods;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The number of pickers that share a pool, on its way from a real API server to what plugins see,
 * with no more rights than a picker is given.
 */
@ExtendWith(KubeApi.class)
class ReplicasIT {

  private static final Map<String, String> MINE = Map.of("fairlead.io/picker", "pool-epp");

  private final HttpClient http = HttpClient.newHttpClient();
  private final PickerNamespace own;
  private final KubernetesClient admin;
  private final String namespace;

  ReplicasIT(KubeApi.Running api) throws Exception {
    own = new PickerNamespace(api, "replicas");
    admin = own.admin();
    namespace = own.name();
  }

  @BeforeEach
  void aServer() {
    Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
    admin.resource(TestPods.named("server", namespace, Map.of("app", "vllm"))).create();
    own.running("server", "127.0.0.1", true, 0);
  }

  @Test
  void pluginsSeeHowManyPickersTheSlicesOfTheirServiceList() throws Exception {
    put();
    slice("others", Map.of("fairlead.io/picker", "other-epp"), "IPv4", "x", "y", "z");
    try (DataPlane dataPlane = start(own::client)) {
      dataPlane.ready().join();
      awaitSeen(dataPlane, 1);

      slice("one", MINE, "IPv4", "a", "b");
      awaitSeen(dataPlane, 2);
      slice("two", MINE, "IPv4", "c", "d");
      slice("three", MINE, "IPv6", "a", "b");
      awaitSeen(dataPlane, 4);

      slice("two", MINE, "IPv4", "c");
      awaitSeen(dataPlane, 3);
      Stream.of("one", "two", "three")
          .forEach(
              name ->
                  admin
                      .discovery()
                      .v1()
                      .endpointSlices()
                      .inNamespace(namespace)
                      .withName(name)
                      .delete());
      awaitSeen(dataPlane, 1);
    }
  }

  @Test
  void theLastNumberHoldsWhileTheApiServerIsAway() throws Exception {
    put();
    slice("one", MINE, "IPv4", "a", "b");
    Config behind = own.access();
    URI real = URI.create(behind.getMasterUrl());
    try (Relay relay = new Relay(real.getHost(), real.getPort())) {
      relay.open();
      behind.setMasterUrl("https://127.0.0.1:" + relay.port() + "/");
      try (DataPlane dataPlane =
          start(() -> new KubernetesClientBuilder().withConfig(behind).build())) {
        dataPlane.ready().join();
        awaitSeen(dataPlane, 2);

        relay.shut();
        slice("one", MINE, "IPv4", "a", "b", "c");
        int before = relay.refused();
        await()
            .until(
                () -> {
                  assertThat(shown(dataPlane)).isEqualTo(2);
                  return relay.refused() > before + 2;
                });

        relay.open();
        await()
            .until(
                () -> {
                  int shown = shown(dataPlane);
                  assertThat(shown).as("from 2 to 3, and nothing between").isIn(2, 3);
                  return shown == 3;
                });
        awaitSeen(dataPlane, 3);
      }
    }
  }

  @Test
  void aPickerWithoutAnOperatorIsToldItsService() throws Exception {
    Map<String, String> mine = Map.of("kubernetes.io/service-name", "epp-service");
    slice("one", mine, "IPv4", "a", "b", "c");
    slice("others", Map.of("kubernetes.io/service-name", "other"), "IPv4", "x");
    var pool =
        new ClusterPool(
            namespace,
            new ClusterPool.Selected("pool", Map.of("app", "vllm"), List.of(1)),
            new ClusterPool.Inline(
                """
                apiVersion: inference.networking.x-k8s.io/v1alpha1
                kind: EndpointPickerConfig
                plugins:
                  - {type: replica-witness, parameters: {test: %s}}
                  - {type: max-score-picker}
                schedulingProfiles:
                  - name: default
                    plugins:
                      - {pluginRef: replica-witness, weight: 1}
                      - {pluginRef: max-score-picker}
                """
                    .formatted(namespace)),
            "epp-service",
            own::client);
    try (DataPlane dataPlane = start(pool)) {
      dataPlane.ready().join();
      awaitSeen(dataPlane, 3);
    }
  }

  /** By a plugin in the core, on the page, and in the metrics. */
  private void awaitSeen(DataPlane dataPlane, int replicas) throws Exception {
    await().until(() -> shown(dataPlane) == replicas);
    assertThat(get(dataPlane, "/metrics")).contains("fairlead_pool_replicas " + replicas + ".0");
    try (Traffic traffic = new Traffic(dataPlane.gatewayPort().orElseThrow(), 1)) {
      traffic.next(1); // nothing listens there, but it was scored
    }
    assertThat(ReplicaWitness.SEEN).containsEntry(namespace, replicas);
  }

  private int shown(DataPlane dataPlane) throws Exception {
    return JsonMapper.builder()
        .build()
        .readTree(get(dataPlane, "/debug/status"))
        .path("replicas")
        .intValue();
  }

  private String get(DataPlane dataPlane, String path) throws Exception {
    URI page = URI.create("http://127.0.0.1:" + dataPlane.adminPort().orElseThrow() + path);
    return http.send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString())
        .body();
  }

  private DataPlane start(Supplier<KubernetesClient> client) {
    var reporting =
        new DataPlaneConfig.Reporting(
            "pool-epp", "pool-epp-0", namespace, "0f0f0f0f-0000-0000-0000-000000000000");
    return start(new DataPlaneConfig.Kubernetes(namespace, "pool-epp", reporting, client));
  }

  private static DataPlane start(DataPlaneConfig.Source source) {
    return DataPlane.start(
        DataPlaneConfig.builder(source)
            .loops(1)
            .gateway("127.0.0.1", 0)
            .admin("127.0.0.1", 0)
            .build());
  }

  private void put() {
    PoolConfig config =
        new PoolConfig(
            namespace,
            "pool",
            Map.of("app", "vllm"),
            List.of(1),
            "http",
            List.of(),
            ReplicaWitness.alone(namespace));
    own.configure(ConfigDocument.write(config));
  }

  private void slice(String name, Map<String, String> labels, String family, String... pods) {
    List<Endpoint> endpoints =
        Stream.of(pods)
            .map(
                pod ->
                    new EndpointBuilder()
                        .withAddresses(
                            (family.equals("IPv4") ? "10.0.0." : "fd00::") + pod.charAt(0) % 100)
                        .withNewConditions(true, true, false)
                        .withNewTargetRef()
                        .withKind("Pod")
                        .withName(pod)
                        .endTargetRef()
                        .build())
            .toList();
    admin
        .resource(
            new EndpointSliceBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(namespace)
                .withLabels(labels)
                .endMetadata()
                .withAddressType(family)
                .withEndpoints(endpoints)
                .build())
        .serverSideApply();
  }
}
