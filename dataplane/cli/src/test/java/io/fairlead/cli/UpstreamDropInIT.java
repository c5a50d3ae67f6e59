package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionStatus;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.cli.PickerUnderTest.Picked;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.testing.TestPods;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * The program in the place of upstream's picker: its arguments, its rights and its objects, on a
 * real API server; and no operator of ours.
 */
@ExtendWith(KubeApi.class)
final class UpstreamDropInIT {

  private static final String SETTLED = "inference.networking.k8s.io";
  private static final String OLD = "inference.networking.x-k8s.io";

  /** What upstream's chart puts into its ConfigMap. */
  private static final String PLUGINS =
      """
      apiVersion: inference.networking.x-k8s.io/v1alpha1
      kind: EndpointPickerConfig
      plugins:
      - type: queue-scorer
      - type: kv-cache-utilization-scorer
      - type: prefix-cache-scorer
      schedulingProfiles:
      - name: default
        plugins:
        - pluginRef: queue-scorer
          weight: 2
        - pluginRef: kv-cache-utilization-scorer
          weight: 2
        - pluginRef: prefix-cache-scorer
          weight: 3
      """;

  @TempDir private Path folder;

  private final KubeApi.Running api;
  private final KubernetesClient admin;
  private final String namespace;

  /** Answers for every pod: 127.0.0.0/8 is this machine. */
  private final HttpServer servers = HttpServer.create(new InetSocketAddress(0), 0);

  private final int port = servers.getAddress().getPort();
  private volatile int waiting;

  UpstreamDropInIT(KubeApi.Running api) throws IOException {
    this.api = api;
    admin = api.client();
    namespace =
        admin
            .resource(
                new NamespaceBuilder()
                    .withNewMetadata()
                    .withGenerateName("drop-in-")
                    .endMetadata()
                    .build())
            .create()
            .getMetadata()
            .getName();
  }

  @BeforeEach
  void start() throws IOException {
    Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
    install(Files.readString(Path.of("../../crds/manifests/upstream/inferencepools.yaml")));
    Crds.upstream(admin, OLD);
    Crds.oldPools(admin);
    servers.createContext(
        "/",
        exchange -> {
          byte[] page =
              "vllm:num_requests_waiting{model_name=\"m\"} %d\nvllm:num_requests_running 0\n"
                  .formatted(waiting)
                  .getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, page.length);
          exchange.getResponseBody().write(page);
          exchange.close();
        });
    servers.start();
  }

  @AfterEach
  void stop() {
    servers.stop(0);
  }

  @Test
  void servesInThePlaceOfUpstreamsPicker() throws Exception {
    grant(SETTLED);
    pod("a", "127.0.0.1", true);
    pod("b", "127.0.0.2", false);
    Path plugins = Files.writeString(folder.resolve("default-plugins.yaml"), PLUGINS);

    // As upstream's chart writes them, with two replicas and its default flags.
    try (PickerUnderTest picker =
        start(
            "--pool-name",
            "vllm-llama3-8b-instruct",
            "--pool-namespace",
            namespace,
            "--zap-encoder",
            "json",
            "--config-file",
            plugins.toString(),
            "--ha-enable-leader-election",
            "--v",
            "1",
            "--tracing=false",
            "--metrics-endpoint-auth=false")) {
      await().until(() -> said(picker, "does not exist; it is read as soon as it does"));
      assertThat(picker.ready()).isFalse();

      create(
          """
          apiVersion: inference.networking.k8s.io/v1
          kind: InferencePool
          metadata: {name: vllm-llama3-8b-instruct, namespace: %s}
          spec:
            selector: {matchLabels: {app: vllm}}
            targetPorts: [{number: %d}]
            endpointPickerRef: {name: vllm-epp, port: {number: 9002}, failureMode: FailOpen}
          """
              .formatted(namespace, port));
      await().until(picker::ready);
      assertThat(picker.pick("m", Map.of()).destination()).isEqualTo("127.0.0.1:" + port);

      ready("b", "127.0.0.2", true);
      await().until(() -> destinations(picker).equals(Set.of("127.0.0.1", "127.0.0.2")));
      ready("a", "127.0.0.1", false);
      await().until(() -> destinations(picker).equals(Set.of("127.0.0.2")));

      create(rewrite("chat", "chat-v7"));
      await().until(() -> picker.pick("chat", Map.of()).body().contains("\"chat-v7\""));
      assertThat(picker.pick("other", Map.of()).body()).contains("\"other\"");
      admin
          .genericKubernetesResources(OLD + "/v1alpha2", "InferenceModelRewrite")
          .inNamespace(namespace)
          .delete();
      await().until(() -> picker.pick("chat", Map.of()).body().contains("\"chat\""));

      create(
          """
          apiVersion: inference.networking.x-k8s.io/v1alpha2
          kind: InferenceObjective
          metadata: {name: batch, namespace: %s}
          spec: {priority: -1, poolRef: {name: vllm-llama3-8b-instruct}}
          """
              .formatted(namespace));
      // As upstream without its feature gate: a full pool sheds, and nobody waits.
      Files.writeString(
          plugins,
          PLUGINS + "featureGates: [flowControl=false]\nflowControl: {maxRequests: 1000}\n");
      await().until(() -> said(picker, "nothing is queued"));
      waiting = 100;
      Map<String, String> batch = Map.of("x-gateway-inference-objective", "batch");
      Picked shed = await().until(() -> picker.pick("m", batch), picked -> picked.status() != 0);
      assertThat(shed.status()).isEqualTo(429);
      assertThat(picker.pick("m", Map.of()).destination()).isEqualTo("127.0.0.2:" + port);

      Files.writeString(plugins, PLUGINS.replace("queue-scorer", "queue-scorrer"));
      await().until(() -> said(picker, "queue-scorrer"));
      assertThat(picker.pick("m", Map.of()).destination()).isEqualTo("127.0.0.2:" + port);

      assertThat(picker.terminate()).isZero();
      assertThat(picker.log())
          .as("each line is one object")
          .allMatch(line -> line.startsWith("{") && line.endsWith("}"));
      assertThat(picker.log().stream().filter(line -> line.contains("EppFlags")))
          .singleElement()
          .asString()
          .contains("--ha-enable-leader-election=true has no effect: there is no leader");
    }
  }

  @Test
  void servesAPoolOfTheOldGroupWithoutAConfig() throws Exception {
    grant(OLD);
    pod("a", "127.0.0.1", true);
    create(
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferencePool
        metadata: {name: p, namespace: %s}
        spec: {selector: {app: vllm}, targetPortNumber: %d, extensionRef: {name: p-epp}}
        """
            .formatted(namespace, port));
    try (PickerUnderTest picker = start("--pool-name=p", "--pool-group=" + OLD)) {
      await().until(picker::ready);
      assertThat(picker.pick("m", Map.of()).destination()).isEqualTo("127.0.0.1:" + port);
    }
  }

  @Test
  void servesPodsBySelectorWithRightsToThemAlone() throws Exception {
    grant("none.example.com");
    pod("a", "127.0.0.1", true);
    try (PickerUnderTest picker =
        start(
            "--endpoint-selector",
            "app=vllm",
            "--endpoint-target-ports",
            String.valueOf(port),
            "--config-text",
            PLUGINS)) {
      await().until(picker::ready);
      assertThat(picker.pick("m", Map.of()).destination()).isEqualTo("127.0.0.1:" + port);
    }
  }

  @Test
  void whatMayNotBeReadIsTold() throws Exception {
    grant("none.example.com");
    try (PickerUnderTest picker = start("--pool-name=p")) {
      await()
          .until(
              () ->
                  said(
                      picker,
                      "InferencePool "
                          + namespace
                          + "/p: may not be read; grant get, list and watch of inferencepools of "
                          + SETTLED));
      assertThat(picker.ready()).isFalse();
      assertThat(picker.log())
          .as("each kind is told of once, and not with a trace at each try")
          .noneMatch(line -> line.contains("will retry"));
    }
  }

  @Test
  void metricsAreForThoseWhomTheApiServerLetsGetThem() throws Exception {
    grant("none.example.com");
    String reader = token("reader");
    String stranger = token("stranger");
    String roles = resource("metrics-roles.yaml").replace("NAMESPACE", namespace);
    admin.load(new ByteArrayInputStream(roles.getBytes(StandardCharsets.UTF_8))).serverSideApply();
    try (PickerUnderTest picker =
            start(
                "--endpoint-selector=app=vllm",
                "--endpoint-target-ports=" + port,
                "--metrics-endpoint-auth");
        HttpClient http = HttpClient.newHttpClient()) {
      await().ignoreExceptions().until(() -> page(http, picker, "/healthz", null) == 200);
      assertThat(page(http, picker, "/metrics", null)).isEqualTo(401);
      assertThat(page(http, picker, "/metrics", "nonsense")).isEqualTo(401);
      assertThat(page(http, picker, "/metrics", stranger)).isEqualTo(403);
      assertThat(page(http, picker, "/metrics", reader)).isEqualTo(200);
    }
  }

  private String token(String account) {
    admin
        .resource(
            new ServiceAccountBuilder()
                .withNewMetadata()
                .withName(account)
                .withNamespace(namespace)
                .endMetadata()
                .build())
        .create();
    return admin
        .serviceAccounts()
        .inNamespace(namespace)
        .withName(account)
        .tokenRequest(new TokenRequestBuilder().withNewSpec().endSpec().build())
        .getStatus()
        .getToken();
  }

  private static int page(
      HttpClient http, PickerUnderTest picker, String path, @Nullable String token)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + picker.metricsPort() + path));
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  private PickerUnderTest start(String... args) throws IOException {
    Path config = Files.writeString(folder.resolve("kubeconfig"), api.kubeConfig());
    return new PickerUnderTest(
        folder,
        Map.of("KUBECONFIG", config.toString(), "NAMESPACE", namespace, "POD_NAME", "epp-0-1"),
        List.of(
            "-Dkubernetes.impersonate.username=system:serviceaccount:"
                + namespace
                + ":upstream-epp"),
        List.of(args));
  }

  private static boolean said(PickerUnderTest picker, String what) throws IOException {
    return picker.log().stream().anyMatch(line -> line.contains(what));
  }

  /** Of a dozen requests: ties are broken by chance. */
  private Set<String> destinations(PickerUnderTest picker) {
    Set<String> hosts = new HashSet<>();
    for (int i = 0; i < 12; i++) {
      hosts.add(picker.pick("m" + i, Map.of()).destination().replace(":" + port, ""));
    }
    return hosts;
  }

  private String rewrite(String model, String target) {
    return """
    apiVersion: inference.networking.x-k8s.io/v1alpha2
    kind: InferenceModelRewrite
    metadata: {name: %s, namespace: %s}
    spec:
      poolRef: {name: vllm-llama3-8b-instruct}
      rules: [{matches: [{model: {value: %s}}], targets: [{modelRewrite: %s}]}]
    """
        .formatted(model, namespace, model, target);
  }

  // ---- the cluster

  private void install(String crd) {
    CustomResourceDefinition made =
        (CustomResourceDefinition)
            admin
                .load(new ByteArrayInputStream(crd.getBytes(StandardCharsets.UTF_8)))
                .serverSideApply()
                .getFirst();
    await()
        .until(
            () ->
                Optional.ofNullable(admin.resource(made).get().getStatus())
                    .map(CustomResourceDefinitionStatus::getConditions)
                    .orElse(List.of())
                    .stream()
                    .anyMatch(
                        condition ->
                            condition.getType().equals("Established")
                                && condition.getStatus().equals("True")));
  }

  /** Upstream's rights. */
  private void grant(String poolGroup) throws IOException {
    String roles =
        resource("roles.yaml").replace("POOL_GROUP", poolGroup).replace("NAMESPACE", namespace);
    admin
        .load(new ByteArrayInputStream(roles.getBytes(StandardCharsets.UTF_8)))
        .inNamespace(namespace)
        .serverSideApply();
  }

  private void create(String object) {
    admin.load(new ByteArrayInputStream(object.getBytes(StandardCharsets.UTF_8))).create();
  }

  private static String resource(String name) throws IOException {
    try (InputStream in =
        Objects.requireNonNull(UpstreamDropInIT.class.getResourceAsStream("upstream/" + name))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private void pod(String name, String address, boolean ready) {
    admin.resource(TestPods.named(name, namespace, Map.of("app", "vllm"))).create();
    ready(name, address, ready);
  }

  private void ready(String name, String address, boolean ready) {
    admin
        .pods()
        .inNamespace(namespace)
        .withName(name)
        .editStatus(pod -> TestPods.running(pod, address, ready, 0));
  }
}
