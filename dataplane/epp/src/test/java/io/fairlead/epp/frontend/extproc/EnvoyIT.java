package io.fairlead.epp.frontend.extproc;

import static io.fairlead.epp.frontend.extproc.TestPool.endpoint;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import io.fairlead.core.EndpointSpec;
import io.fairlead.crds.testing.FreePort;
import io.fairlead.epp.HeaderPlugin;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.tls.ServingSecurity;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Queue;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The picker behind a real Envoy, in front of model server stubs. */
class EnvoyIT {

  private static final int MAX_BODY = 9 << 20;

  @TempDir private static Path folder;
  private static MultiThreadIoEventLoopGroup loops;
  private static TestPool pool;
  private static ExtProcServer picker;
  private static Envoy envoy;
  private static HttpClient client;

  private final List<ModelServer> servers =
      Stream.of("a", "b", "c")
          .map(
              name ->
                  ModelServer.start(
                      ModelServerConfig.builder(name, "llama-v2")
                          .timeScale(0.1)
                          .bodyHash(true)
                          .promptTokensDetails(true)
                          .build(),
                      loops))
          .toList();

  @BeforeAll
  static void start() throws Exception {
    loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    pool = new TestPool(loops.next()).configured();
    picker = picker(FreePort.find()); // where it comes back in a test
    envoy = Envoy.start(picker.port(), true, folder);
    client = HttpClient.newHttpClient();
  }

  private static ExtProcServer picker(int port) {
    return ExtProcServer.start(
        new ExtProcConfig("127.0.0.1", port, new ServingSecurity.SelfSigned(), MAX_BODY, false),
        pool.loop,
        BodyBudget.ofHeap(),
        loops,
        new Health());
  }

  @AfterAll
  static void stop() throws Exception {
    client.close();
    envoy.close();
    picker.close();
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @BeforeEach
  void endpoints() {
    pool.events.clear();
    pool.endpoints(
        servers.stream()
            .map(
                server -> endpoint(server.config().name(), "127.0.0.1", server.address().getPort()))
            .toArray(EndpointSpec[]::new));
  }

  @AfterEach
  void nothingIsLeftInFlight() {
    await().until(() -> pool.active() == 0 && picker.counters().active() == 0);
    assertThat(pool.inFlight()).isZero();
    assertThat(picker.counters().failures()).isZero();
    assertThat(picker.counters().protocolErrors()).isZero();
    servers.forEach(ModelServer::close);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void completionsPassWithTheTargetModelAndOtherwiseTheirVeryBytes(boolean stream)
      throws Exception {
    String body = chat("hä\\u00e9\\n \\\"x\\\" 9007199254740993", stream);
    HttpResponse<String> answer = post(body);

    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    assertThat(header(answer, "x-stub-body-sha256"))
        .isEqualTo(sha256(body.replace("\"chat\"", "\"llama-v2\"").getBytes(UTF_8)));
    assertThat(answer.body()).contains(stream ? "data: [DONE]" : "\"chat.completion\"");
    String endpoint = header(answer, "x-stub-endpoint");
    List<String> expected =
        Stream.of("sent " + endpoint, "first token " + endpoint, "ended " + endpoint + " COMPLETED")
            .filter(event -> stream || !event.startsWith("first"))
            .toList();
    await().until(() -> pool.events.size() == expected.size());
    assertThat(pool.events).isEqualTo(expected);
    assertThat(pool.usages.getLast().completionTokens()).isEqualTo(stream ? -1 : 4);
  }

  @Test
  void theChosenEndpointIsTheOneThatAnswersAndPicksSpread() throws Exception {
    TreeMap<String, Integer> picks = new TreeMap<>();
    for (int i = 0; i < 60; i++) {
      pool.events.clear();
      HttpResponse<String> answer = post(chat("request " + i, false));
      String endpoint = header(answer, "x-stub-endpoint");
      assertThat(pool.events).contains("sent " + endpoint);
      picks.merge(endpoint, 1, Integer::sum);
    }
    assertThat(picks.keySet()).isEqualTo(new TreeSet<>(List.of("a", "b", "c")));
  }

  @Test
  void headersOfPluginsReplaceWhatAClientSends() throws Exception {
    Queue<Headers> seen = new ConcurrentLinkedQueue<>();
    HttpServer backend =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    backend.createContext(
        "/",
        exchange -> {
          seen.add(exchange.getRequestHeaders());
          exchange.getRequestBody().readAllBytes();
          exchange.getResponseHeaders().set("x-session-token", "its own");
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    backend.start();
    try {
      pool.configured(HeaderPlugin.ALONE, new HeaderPlugin.Factory());
      pool.endpoints(endpoint("own", "127.0.0.1", backend.getAddress().getPort()));
      HttpResponse<String> answer =
          client.send(
              HttpRequest.newBuilder(envoy.url().resolve("/v1/chat/completions"))
                  .header("content-type", "application/json")
                  .header("x-team", "blue")
                  .header("x-prefiller-host-port", "6.6.6.6:6")
                  .header("x-encoder-hosts-ports", "6.6.6.6:6")
                  .header("x-gateway-destination-endpoint", "127.0.0.1:1")
                  .POST(BodyPublishers.ofString(chat("hi", false)))
                  .build(),
              BodyHandlers.ofString());

      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.headers().allValues("x-session-token")).containsExactly("token-of-own");
      Headers headers = seen.remove();
      assertThat(headers.get("x-prefiller-host-port")).containsExactly("10.9.9.9:1");
      assertThat(headers.get("x-team-seen")).containsExactly("blue");
      assertThat(headers.get("x-encoder-hosts-ports")).isNull();
      assertThat(headers.get("x-gateway-destination-endpoint"))
          .containsExactly("127.0.0.1:" + backend.getAddress().getPort());
    } finally {
      pool.configured();
      backend.stop(0);
    }
  }

  @Test
  void requestsWithoutBodyPass() throws Exception {
    HttpResponse<String> answer =
        client.send(request("/v1/models").build(), BodyHandlers.ofString());
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).contains("llama-v2");
  }

  @Test
  void aBodyOfEightMebibytesPasses() throws Exception {
    String body = chat("x".repeat(8 << 20), false);
    HttpResponse<String> answer = post(body);
    assertThat(header(answer, "x-stub-body-sha256"))
        .isEqualTo(sha256(body.replace("\"chat\"", "\"llama-v2\"").getBytes(UTF_8)));
  }

  @Test
  void refusalsLookLikeTheApiAndTheConnectionStaysOfUse() throws Exception {
    HttpResponse<String> broken = post("{\"model\":");
    assertThat(broken.statusCode()).isEqualTo(400);
    assertThat(broken.body()).startsWith("{\"error\":{\"message\":").contains("invalid_json");
    assertThat(header(broken, "content-type")).isEqualTo("application/json");

    HttpResponse<String> huge = post(chat("x".repeat(MAX_BODY), false));
    assertThat(huge.statusCode()).isEqualTo(413);
    assertThat(huge.body()).contains("body_too_large");

    HttpResponse<String> text =
        client.send(
            request("/v1/chat/completions")
                .header("content-type", "text/plain")
                .POST(BodyPublishers.ofString("hello"))
                .build(),
            BodyHandlers.ofString());
    assertThat(text.statusCode()).isEqualTo(415);
    assertThat(post(chat("hi", false)).statusCode()).isEqualTo(200);
  }

  @Test
  void noEndpointIs503WithAReason() throws Exception {
    pool.configured(TestPool.NOBODY_WAITS);
    try {
      pool.endpoints();
      HttpResponse<String> answer = post(chat("hi", false));
      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.body()).contains("no_ready_endpoints");
      assertThat(header(answer, "retry-after")).isEqualTo("1");
      assertThat(header(answer, "x-llm-d-request-dropped-reason"))
          .isEqualTo("rejected-no-endpoints");
    } finally {
      pool.configured();
    }
  }

  @Test
  void aDeadEndpointIsAFailure() throws Exception {
    servers.forEach(ModelServer::close);
    assertThat(post(chat("hi", false)).statusCode()).isEqualTo(503);
    await().until(() -> pool.events.stream().anyMatch(event -> event.endsWith("FAILED")));
  }

  @Test
  void aClientThatGoesAwayFreesTheEndpoint() throws Exception {
    String body = chat("hi", true).replace("\"max_tokens\":4", "\"max_tokens\":100000");
    try (HttpClient leaving = HttpClient.newHttpClient()) {
      HttpResponse<InputStream> answer =
          leaving.send(chatRequest(body), BodyHandlers.ofInputStream());
      try (InputStream stream = answer.body()) {
        assertThat(stream.read()).isPositive();
      }
      leaving.shutdownNow();
    }
    await().until(() -> pool.events.stream().anyMatch(event -> event.endsWith("DISCONNECTED")));
  }

  @Test
  void aPickerThatComesBackIsUsedAgain() throws Exception {
    int port = picker.port();
    picker.close();
    assertThat(post(chat("hi", false)).statusCode()).isEqualTo(500);
    picker = picker(port);
    await().until(() -> post(chat("hi", false)).statusCode() == 200);
  }

  private static String chat(String text, boolean stream) {
    return "{ \"max_tokens\":4, \"model\":\"chat\",\"stream\":"
        + stream
        + ",\n\"messages\":[{\"role\":\"user\",\"content\":\""
        + text
        + "\"}]}";
  }

  private static HttpResponse<String> post(String body) throws IOException, InterruptedException {
    return client.send(chatRequest(body), BodyHandlers.ofString());
  }

  private static HttpRequest chatRequest(String body) {
    return request("/v1/chat/completions?trace=1")
        .header("content-type", "application/json")
        .POST(BodyPublishers.ofString(body))
        .build();
  }

  private static HttpRequest.Builder request(String path) {
    URI url = envoy.url().resolve(path);
    return HttpRequest.newBuilder(url).version(HttpClient.Version.HTTP_1_1);
  }

  private static String header(HttpResponse<?> answer, String name) {
    return answer.headers().firstValue(name).orElse("");
  }

  private static String sha256(byte[] bytes) throws NoSuchAlgorithmException {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
  }
}
