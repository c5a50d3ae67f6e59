package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.testing.TestPods;
import io.fairlead.epp.handover.HandOverResult;
import io.fairlead.epp.handover.HandOverSettings;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Pickers that find each other by the EndpointSlices of their Service, on a real API server, with
 * no more rights than a picker is given. Slices can't have addresses of the loopback, so that one
 * listens at an address of the machine's.
 */
@ExtendWith(KubeApi.class)
class HandOverPeersIT {

  private static final String PICKER = PickerNamespace.PICKER;

  private static final ObjectMapper JSON = new ObjectMapper();

  /** So many that no server is without one by chance. */
  private static final int PROMPTS = 60;

  private static final int MOST_PROMPTS = 500;

  /** Of a network that is for documents: nobody answers there. */
  private static final String NOBODY = "198.51.100.7";

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final MultiThreadIoEventLoopGroup stubLoops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final List<ModelServer> stubs = new ArrayList<>();
  private final List<DataPlane> pickers = new ArrayList<>();
  private final PickerNamespace own;
  private final KubernetesClient admin;
  private final String namespace;

  @TempDir private Path temporary;
  private Path secret = Path.of("");
  private String machine = "";

  HandOverPeersIT(KubeApi.Running api) throws Exception {
    own = new PickerNamespace(api, "peers");
    admin = own.admin();
    namespace = own.name();
  }

  @BeforeEach
  void aPoolWithThreeServers() throws Exception {
    Optional<String> outside =
        NetworkInterface.networkInterfaces()
            .flatMap(NetworkInterface::inetAddresses)
            .filter(Inet4Address.class::isInstance)
            .filter(address -> !address.isLoopbackAddress() && !address.isLinkLocalAddress())
            .map(InetAddress::getHostAddress)
            .findFirst();
    assumeThat(outside).as("an address that a slice may have").isPresent();
    machine = outside.orElseThrow();
    secret = Files.writeString(temporary.resolve("secret"), "a secret that pickers share\n");
    int port = 0;
    for (String name : List.of("one", "two", "three")) {
      String address = "127.0.0." + (stubs.size() + 1);
      ModelServer stub =
          ModelServer.start(
              ModelServerConfig.builder(name, "m")
                  .listen(address, port)
                  .instant()
                  .promptTokensDetails(true)
                  .build(),
              stubLoops);
      stubs.add(stub);
      port = stub.address().getPort();
      admin.resource(TestPods.named(name, namespace, Map.of("app", "vllm"))).create();
      own.running(name, address, true, 0);
    }
    PoolConfig config =
        new PoolConfig(
            namespace,
            "pool",
            Map.of("app", "vllm"),
            List.of(port),
            "http",
            List.of(new ModelConfig("m", Criticality.CRITICAL, List.of(new TargetModel("m", 1)))),
            SchedulerConfig.DEFAULT);
    own.configure(ConfigDocument.write(config));
  }

  @AfterEach
  void stop() {
    http.close();
    pickers.forEach(DataPlane::close);
    stubs.forEach(ModelServer::close);
    stubLoops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  @Test
  void asksThoseThatItsServiceListsAsReadyAndTakesOverWhatTheyKnow() throws Exception {
    DataPlane first = picker(machine, 0);
    assertThat(result(first).state())
        .as("nobody is listed, and it is allowed to see that: %s", result(first).why())
        .isEqualTo(HandOverResult.State.ALONE);
    assertThat(result(first).why()).isEmpty();
    Map<Integer, String> served = new HashMap<>();
    // Some for each: one whose first answer came late gets none for a while.
    for (int i = 0;
        i < PROMPTS || (i < MOST_PROMPTS && Set.copyOf(served.values()).size() < 3);
        i++) {
      served.put(i, ask(first, "r" + i, i));
    }
    int prompts = served.size();
    assertThat(served.values()).as("some prompts for each").contains("one", "two", "three");
    int port = first.handOverPort().orElseThrow();

    // One that has gone is still listed, one is not ready, and those of another Service are none.
    slice(
        "mine",
        PICKER,
        endpoint("pool-epp-0", machine, true),
        endpoint("pool-epp-gone", NOBODY, true),
        endpoint("pool-epp-new", "198.51.100.8", false));
    slice("others", "other-epp", endpoint("other-0", "198.51.100.9", true));

    DataPlane second = picker("127.0.0.1", port);
    HandOverResult result = result(second);
    assertThat(result.state()).as(result.why()).isEqualTo(HandOverResult.State.TAKEN);
    assertThat(result.from()).isEqualTo(machine + ":" + port);
    assertThat(result.endpoints()).isEqualTo(3);
    assertThat(result.prompts()).isGreaterThanOrEqualTo(prompts);
    for (int i = 0; i < prompts; i++) {
      ask(second, "again-" + i, i);
      Map<String, Integer> held = held(second, "again-" + i);
      String holder = served.get(i) + "-rank-0";
      assertThat(held).as("prompt %d", i).containsKey(holder);
      int most = Objects.requireNonNull(held.remove(holder));
      // Who gets it is another matter: a server whose first answer came late may look slow.
      assertThat(held.values())
          .as("prompt %d, of which %s holds %d tokens", i, holder, most)
          .allMatch(tokens -> tokens < most);
    }
  }

  /** It is listed itself, as after a restart of its container: it is nobody to ask. */
  @Test
  void doesNotAskItself() throws Exception {
    slice("mine", PICKER, endpoint("pool-epp-0", machine, true));
    DataPlane alone = picker(machine, 0);
    assertThat(result(alone).state()).isEqualTo(HandOverResult.State.ALONE);
    assertThat(result(alone).why()).isEmpty();
  }

  private static HandOverResult result(DataPlane picker) {
    return Objects.requireNonNull(picker.handOver());
  }

  private DataPlane picker(String host, int port) throws Exception {
    var reporting =
        new DataPlaneConfig.Reporting(
            PICKER,
            "pool-epp-" + pickers.size(),
            namespace,
            "0f0f0f0f-0000-0000-0000-00000000000" + pickers.size());
    DataPlane picker =
        DataPlane.start(
            DataPlaneConfig.builder(
                    new DataPlaneConfig.Kubernetes(namespace, PICKER, reporting, own::client))
                .gateway("127.0.0.1", 0)
                .admin("127.0.0.1", 0)
                .handOver(
                    new HandOverSettings(host, port, secret, List.of(), Duration.ofSeconds(20)))
                .loops(1)
                .build());
    pickers.add(picker);
    picker.ready().get(60, TimeUnit.SECONDS);
    return picker;
  }

  /** Returns which server has answered. */
  private String ask(DataPlane picker, String id, int prompt) throws Exception {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(
                    URI.create(
                        "http://127.0.0.1:"
                            + picker.gatewayPort().orElseThrow()
                            + "/v1/completions"))
                .header("content-type", "application/json")
                .header("x-request-id", id)
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        "{\"model\": \"m\", \"max_tokens\": 2, \"prompt\": \""
                            + ("Rope number " + prompt + " runs through the fairlead. ").repeat(60)
                            + "\"}"))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.headers().firstValue("x-stub-endpoint").orElseThrow();
  }

  /** Tokens of the request's prompt that the picker believed each endpoint to hold. */
  private Map<String, Integer> held(DataPlane picker, String id) throws Exception {
    URI page =
        URI.create(
            "http://127.0.0.1:" + picker.adminPort().orElseThrow() + "/debug/decisions/" + id);
    String decisions =
        http.send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString())
            .body();
    Map<String, Integer> held = new HashMap<>();
    JSON.readTree(decisions)
        .path("decisions")
        .path(0)
        .path("candidates")
        .forEach(one -> held.put(one.path("endpoint").asText(), one.path("cachedTokens").asInt()));
    return held;
  }

  private static Endpoint endpoint(String pod, String address, boolean ready) {
    return new EndpointBuilder()
        .withAddresses(address)
        .withNewConditions(ready, ready, false)
        .withNewTargetRef()
        .withKind("Pod")
        .withName(pod)
        .endTargetRef()
        .build();
  }

  private void slice(String name, String picker, Endpoint... endpoints) {
    admin
        .resource(
            new EndpointSliceBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(namespace)
                .withLabels(Map.of("fairlead.io/picker", picker))
                .endMetadata()
                .withAddressType("IPv4")
                .withEndpoints(endpoints)
                .build())
        .create();
  }
}
