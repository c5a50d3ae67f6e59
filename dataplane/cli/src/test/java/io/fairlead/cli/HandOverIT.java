package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.epp.DataPlane;
import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.handover.HandOverResult;
import io.fairlead.epp.handover.HandOverResult.State;
import io.fairlead.epp.handover.HandOverSettings;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A picker that starts beside one that serves: real pickers, real sockets, real model servers. */
final class HandOverIT {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** More than any takes that comes, also on a machine that stands still now and then. */
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /** For what does not come. */
  private static final Duration SHORT = Duration.ofSeconds(2);

  /** More than the patience, and a busy machine. */
  private static final int READY_SECONDS = 60;

  private static final int MOST_PROMPTS = 500;

  /** Bytes that the smallest hand-over is longer than; who is told nothing gets 17 at most. */
  private static final int HAND_OVER = 1_000;

  @TempDir private Path temporary;

  private final HttpClient client = HttpClient.newHttpClient();
  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final List<ModelServer> stubs = new ArrayList<>();
  private final List<DataPlane> planes = new ArrayList<>();
  private Path secret;
  private Path config;
  private Path endpoints;
  private int asked;

  @BeforeEach
  void start() throws Exception {
    StringBuilder listed = new StringBuilder("endpoints:\n");
    for (String name : List.of("one", "two", "three")) {
      ModelServer stub =
          ModelServer.start(
              ModelServerConfig.builder(name, "m").instant().promptTokensDetails(true).build(),
              loops);
      stubs.add(stub);
      listed.append(
          "- {name: %s, address: %s, port: %d}\n"
              .formatted(
                  name, stub.address().getAddress().getHostAddress(), stub.address().getPort()));
    }
    endpoints = Files.writeString(temporary.resolve("endpoints.yaml"), listed.toString());
    config =
        Files.writeString(
            temporary.resolve("config.yaml"),
            """
            apiVersion: fairlead.io/v1alpha1
            kind: PoolConfig
            pool: {namespace: default, name: test, targetPorts: [8000]}
            models: [{name: m, criticality: Critical, targets: [{name: m, weight: 1}]}]
            requests: {receipts: {keep: 1000}}
            scheduling: {}
            """);
    secret = Files.writeString(temporary.resolve("secret"), "a secret that pickers share\n");
  }

  @AfterEach
  void stop() {
    client.close();
    planes.forEach(DataPlane::close);
    stubs.forEach(ModelServer::close);
    loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  private DataPlane picker(Path known, String... peers) throws Exception {
    return picker(PATIENCE, known, peers);
  }

  private DataPlane picker(Duration patience, Path known, String... peers) throws Exception {
    DataPlane plane =
        DataPlane.start(
            DataPlaneConfig.builder(new DataPlaneConfig.Files(endpoints, config))
                .gateway("127.0.0.1", 0)
                .admin("127.0.0.1", 0)
                .handOver(new HandOverSettings("127.0.0.1", 0, known, List.of(peers), patience))
                .loops(1)
                .build());
    planes.add(plane);
    plane.ready().get(READY_SECONDS, TimeUnit.SECONDS);
    return plane;
  }

  private static HandOverResult result(DataPlane plane) {
    return Objects.requireNonNull(plane.handOver());
  }

  private static String handOverAddress(DataPlane plane) {
    return "127.0.0.1:" + plane.handOverPort().orElseThrow();
  }

  /** Returns which endpoint has served it. */
  private String ask(DataPlane plane, String id, String prompt)
      throws IOException, InterruptedException {
    HttpResponse<String> answer =
        client.send(
            completion(
                plane, id, "{\"model\": \"m\", \"max_tokens\": 2, \"prompt\": \"" + prompt + "\"}"),
            BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    String list = page(plane, "/debug/decisions/" + id);
    return list.replaceAll("(?s)^.*?\"endpoint\":\"(\\w+)\".*$", "$1");
  }

  private static HttpRequest completion(DataPlane plane, String id, String body) {
    return HttpRequest.newBuilder(
            URI.create("http://127.0.0.1:" + plane.gatewayPort().orElseThrow() + "/v1/completions"))
        .header("content-type", "application/json")
        .header("x-request-id", id)
        .POST(BodyPublishers.ofString(body))
        .build();
  }

  /** Tokens of the request's prompt that the picker believed each endpoint to hold. */
  private Map<String, Integer> held(DataPlane plane, String id)
      throws IOException, InterruptedException {
    Map<String, Integer> held = new HashMap<>();
    JSON.readTree(page(plane, "/debug/decisions/" + id))
        .path("decisions")
        .path(0)
        .path("candidates")
        .forEach(one -> held.put(one.path("endpoint").asText(), one.path("cachedTokens").asInt()));
    return held;
  }

  private String page(DataPlane plane, String path) throws IOException, InterruptedException {
    return client
        .send(
            HttpRequest.newBuilder(
                    URI.create("http://127.0.0.1:" + plane.adminPort().orElseThrow() + path))
                .build(),
            BodyHandlers.ofString())
        .body();
  }

  private static String prompt(int number) {
    return ("The rope number " + number + " runs through the fairlead. ").repeat(60);
  }

  @Test
  void findsTheCachesThatAnotherKnows() throws Exception {
    DataPlane first = picker(secret);
    assertThat(result(first).state()).isEqualTo(State.ALONE);
    Map<Integer, String> served = new HashMap<>();
    // Some prompts for each: one whose first answer came late gets none for a while.
    for (int i = 0; i < 24 || (i < MOST_PROMPTS && Set.copyOf(served.values()).size() < 3); i++) {
      served.put(i, ask(first, "r" + i, prompt(i)));
    }
    int prompts = served.size();
    assertThat(served.values()).contains("one", "two", "three");

    DataPlane second = picker(secret, handOverAddress(first));
    HandOverResult result = result(second);
    assertThat(result.state()).as(result.why()).isEqualTo(State.TAKEN);
    assertThat(result.endpoints()).isEqualTo(3);
    assertThat(result.prompts()).isGreaterThanOrEqualTo(prompts);
    assertThat(result.millis()).isLessThan(PATIENCE.toMillis());
    for (int i = 0; i < prompts; i++) {
      ask(second, "again-" + i, prompt(i));
      String holder = served.get(i);
      Map<String, Integer> held = held(second, "again-" + i);
      assertThat(held).as("prompt %d", i).containsKey(holder);
      int most = Objects.requireNonNull(held.remove(holder));
      // Who gets it is another matter: a server whose first answer came late may look slow.
      assertThat(held.values())
          .as("prompt %d, of which %s holds %d tokens", i, holder, most)
          .allMatch(tokens -> tokens < most);
    }
    assertThat(page(second, "/debug/status"))
        .contains("\"handOver\":{\"state\":\"taken\",\"from\":\"" + handOverAddress(first));
    assertThat(page(second, "/metrics"))
        .contains("fairlead_handover_prompts %d.0\n".formatted(result.prompts()));

    // One that knows another secret is told nothing, and serves nevertheless.
    Path other = Files.writeString(temporary.resolve("other"), "another secret than theirs");
    DataPlane stranger = picker(other, handOverAddress(first));
    assertThat(result(stranger).state()).isEqualTo(State.FAILED);
    ask(stranger, "cold", prompt(0));
  }

  /** A conversation whose next turn comes to the other picker finds what the first one sent. */
  @Test
  void hearsWhatAnotherSendsFromThenOn() throws Exception {
    DataPlane first = picker(secret);
    DataPlane second = picker(secret, handOverAddress(first));
    await()
        .until(
            () ->
                page(second, "/debug/status")
                    .contains("\"following\":[\"" + handOverAddress(first) + "\"]"));
    Map<Integer, String> served = new HashMap<>();
    for (int i = 0; i < 12; i++) {
      served.put(i, ask(first, "r" + i, prompt(i)));
    }
    await()
        .until(
            () -> page(second, "/metrics").contains("fairlead_handover_peer_prompts_total 12.0"));
    assertThat(page(second, "/metrics")).contains("fairlead_handover_peers 1.0");
    for (int i = 0; i < 12; i++) {
      ask(second, "next-" + i, prompt(i) + " And what then?");
      assertThat(held(second, "next-" + i))
          .as("prompt %d, which %s holds", i, served.get(i))
          .hasEntrySatisfying(
              Objects.requireNonNull(served.get(i)),
              tokens -> assertThat(tokens).isGreaterThan(400));
    }
  }

  /** What one has in flight counts at the other for as long, and as nobody's own. */
  @Test
  void countsWhatAnotherHasInFlightUntilItIsOver() throws Exception {
    ModelServer slow = ModelServer.start(ModelServerConfig.builder("slow", "m").build(), loops);
    stubs.add(slow);
    Files.writeString(
        endpoints,
        "endpoints: [{name: slow, address: %s, port: %d}]\n"
            .formatted(slow.address().getAddress().getHostAddress(), slow.address().getPort()));
    DataPlane first = picker(secret);
    DataPlane second = picker(secret, handOverAddress(first));
    HttpResponse<InputStream> endless =
        client.send(
            completion(
                first,
                "endless",
                "{\"model\": \"m\", \"max_tokens\": 100000, \"stream\": true, \"prompt\": \"Go on.\"}"),
            BodyHandlers.ofInputStream());
    try (InputStream answer = endless.body()) {
      assertThat(answer.read()).isPositive();
      await().until(() -> inFlightAsItSees(second) == 1);
      await()
          .until(
              () ->
                  Pattern.compile("fairlead_endpoint_in_flight\\{[^}]*endpoint=\"slow\"[^}]*} 0")
                      .matcher(page(second, "/metrics"))
                      .find());
    }
    await().until(() -> inFlightAsItSees(second) == 0);
  }

  /** In flight at the one endpoint there is, when a further request was decided. */
  private int inFlightAsItSees(DataPlane plane) throws IOException, InterruptedException {
    String id = "asks-" + ++asked;
    ask(plane, id, "How many?");
    return JSON.readTree(page(plane, "/debug/decisions/" + id))
        .path("decisions")
        .path(0)
        .path("candidates")
        .path(0)
        .path("inFlight")
        .asInt(-1);
  }

  /** Whatever a peer does, readiness waits no longer than it may, and nothing is taken. */
  @Test
  void startsColdWithinItsTimeWhateverAPeerDoes() throws Exception {
    try (ServerSocket hanging = listen();
        ServerSocket garbling = listen();
        ServerSocket dying = listen()) {
      serve(garbling, true);
      serve(dying, false);
      DataPlane plane =
          picker(
              SHORT,
              secret,
              "127.0.0.1:" + hanging.getLocalPort(),
              "127.0.0.1:" + garbling.getLocalPort(),
              "127.0.0.1:" + dying.getLocalPort(),
              "127.0.0.1:1");
      HandOverResult result = result(plane);
      assertThat(result.state()).isEqualTo(State.FAILED);
      assertThat(result.why()).isNotEmpty();
      assertThat(result.prompts()).isZero();
      ask(plane, "cold", prompt(0));
      assertThat(page(plane, "/debug/status")).contains("\"state\":\"failed\"");
    }
  }

  @Test
  void hearsNobodyWhoDoesNotKnowTheSecret() throws Exception {
    DataPlane first = picker(secret);
    ask(first, "r", prompt(1));
    byte[] asks = new byte[5 + 16 + 32];
    System.arraycopy(new byte[] {'F', 'L', 'H', 'O', 3}, 0, asks, 0, 5);
    assertThat(exchange(first.handOverPort().orElseThrow(), asks))
        .as("it is told a number, and nothing else")
        .hasSize(1 + 16);
    // One that asks and says nothing does not keep others from asking.
    try (Socket silent =
        new Socket(InetAddress.getLoopbackAddress(), first.handOverPort().orElseThrow())) {
      assertThat(silent.isConnected()).isTrue();
      DataPlane second = picker(secret, handOverAddress(first));
      assertThat(result(second).state()).isEqualTo(State.TAKEN);
    }
  }

  /** Who has seen one hand-over on the network can play neither of the two afterwards. */
  @Test
  void nothingThatWasSeenOnTheNetworkIsOfUseAgain() throws Exception {
    DataPlane first = picker(secret);
    for (int i = 0; i < 4; i++) {
      ask(first, "r" + i, prompt(i));
    }
    byte[] asked;
    byte[] told;
    try (Recorder between = new Recorder(first.handOverPort().orElseThrow())) {
      DataPlane second = picker(secret, between.address());
      assertThat(result(second).state()).as(result(second).why()).isEqualTo(State.TAKEN);
      asked = between.asked();
      told = between.told();
    }
    assertThat(told.length).as("a hand-over").isGreaterThan(HAND_OVER);

    // The same question once more: it is told nothing but a number, and another than then.
    byte[] again = exchange(first.handOverPort().orElseThrow(), asked);
    assertThat(again).hasSize(1 + 16);
    assertThat(again[0]).isEqualTo(told[0]);
    assertThat(again).isNotEqualTo(Arrays.copyOf(told, again.length));

    // The same answer once more: nothing of it is taken.
    try (ServerSocket player = listen()) {
      play(player, told);
      DataPlane third = picker(secret, "127.0.0.1:" + player.getLocalPort());
      assertThat(result(third).state()).isEqualTo(State.FAILED);
      assertThat(result(third).why()).contains("does not know the secret");
      assertThat(result(third).prompts()).isZero();
      ask(third, "cold", prompt(0));
    }
  }

  /** The former form, which told nothing of how long endpoints have been idle. */
  @Test
  void refusesTheFormerVersionByItsNumber() throws Exception {
    DataPlane first = picker(secret);
    ask(first, "r", prompt(1));
    byte[] former = new byte[5 + 16 + 32];
    System.arraycopy(new byte[] {'F', 'L', 'H', 'O', 2}, 0, former, 0, 5);
    assertThat(exchange(first.handOverPort().orElseThrow(), former))
        .as("another version, and which")
        .containsExactly(2, 3);
  }

  /** A rolling update must not wait for what can't come. */
  @Test
  void startsColdAtOnceBesideTheFormerVersion() throws Exception {
    try (ServerSocket former = listen()) {
      play(former, new byte[] {2, 2});
      DataPlane plane = picker(secret, "127.0.0.1:" + former.getLocalPort());
      HandOverResult result = result(plane);
      assertThat(result.state()).isEqualTo(State.FAILED);
      assertThat(result.why()).contains("speaks version 2, and this one 3");
      assertThat(result.millis()).isLessThan(PATIENCE.toMillis() / 2);
      ask(plane, "cold", prompt(0));
    }
  }

  /** Sends it and returns all that is answered. */
  private static byte[] exchange(int port, byte[] bytes) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(60_000);
      socket.getOutputStream().write(bytes);
      return socket.getInputStream().readAllBytes();
    }
  }

  /** Answers everybody with this, whatever they ask. */
  private static void play(ServerSocket listening, byte[] answer) {
    Thread.ofVirtual()
        .start(
            () -> {
              while (!listening.isClosed()) {
                try (Socket socket = listening.accept()) {
                  socket.getOutputStream().write(answer);
                  socket.shutdownOutput();
                  socket.getInputStream().readAllBytes();
                } catch (IOException e) {
                  // The test is over, or who asked has left.
                }
              }
            });
  }

  /** Stands between two pickers and writes down what they say, until one has told the other. */
  private static final class Recorder implements AutoCloseable {

    private final ServerSocket listening = listen();
    private final ByteArrayOutputStream asked = new ByteArrayOutputStream();
    private final ByteArrayOutputStream told = new ByteArrayOutputStream();
    private final Thread thread;

    Recorder(int port) throws IOException {
      thread = Thread.ofVirtual().start(() -> pass(port));
    }

    String address() {
      return "127.0.0.1:" + listening.getLocalPort();
    }

    byte[] asked() throws InterruptedException {
      thread.join();
      return asked.toByteArray();
    }

    byte[] told() throws InterruptedException {
      thread.join();
      return told.toByteArray();
    }

    private void pass(int port) {
      while (told.size() <= HAND_OVER) { // who got no answer in time asks again
        asked.reset();
        told.reset();
        try (Socket asker = listening.accept();
            Socket teller = new Socket(InetAddress.getLoopbackAddress(), port)) {
          Thread back = Thread.ofVirtual().start(() -> copy(teller, asker, told));
          copy(asker, teller, asked);
          back.join();
        } catch (IOException e) {
          return; // the test is over
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return;
        }
      }
    }

    private static void copy(Socket from, Socket to, ByteArrayOutputStream record) {
      byte[] bytes = new byte[8_192];
      try {
        for (int count; (count = from.getInputStream().read(bytes)) > 0; ) {
          record.write(bytes, 0, count);
          to.getOutputStream().write(bytes, 0, count);
        }
        to.shutdownOutput();
      } catch (IOException e) {
        // One of the two has left.
      }
    }

    @Override
    public void close() throws IOException {
      listening.close();
    }
  }

  private static ServerSocket listen() throws IOException {
    return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  }

  /** Answers with nonsense, or begins to tell and breaks off. */
  private static void serve(ServerSocket listening, boolean garbage) {
    Thread.ofVirtual()
        .start(
            () -> {
              while (!listening.isClosed()) {
                try (Socket socket = listening.accept()) {
                  OutputStream out = socket.getOutputStream();
                  out.write(0);
                  out.write(
                      garbage ? new byte[] {0, 0, 0, 4, 99, 99, 99, 99} : new byte[] {0, 0, 1});
                  out.flush();
                } catch (IOException e) {
                  // The test is over, or who asked has left.
                }
              }
            });
  }
}
