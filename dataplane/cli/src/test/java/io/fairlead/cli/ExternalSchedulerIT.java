package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.capture.CaptureConfig;
import io.fairlead.lab.trace.PicksReplay;
import io.fairlead.lab.trace.PicksReport;
import io.fairlead.scheduler.v1.Decision;
import io.fairlead.scheduler.v1.Endpoint;
import io.fairlead.scheduler.v1.EndpointState;
import io.fairlead.scheduler.v1.PickerMessage;
import io.fairlead.scheduler.v1.Request;
import io.fairlead.scheduler.v1.SchedulerGrpc;
import io.fairlead.scheduler.v1.SchedulerHello;
import io.fairlead.scheduler.v1.SchedulerMessage;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A gateway in front of three servers asks a real scheduler over gRPC, well-behaved or not. */
final class ExternalSchedulerIT {

  private static final String PROMPT = "a tenant's long prompt. ".repeat(200);

  @TempDir private Path temporary;

  private final HttpClient client = HttpClient.newHttpClient();
  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final Policy policy = new Policy();
  private @Nullable Server scheduler;
  private @Nullable GatewayUnderTest gateway;

  @BeforeEach
  void serve() throws IOException {
    listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  @AfterEach
  void stop() throws InterruptedException {
    client.close();
    if (gateway != null) {
      gateway.close();
    }
    end();
    loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  private void listen(SocketAddress address) throws IOException {
    boolean socket = address instanceof UnixDomainSocketAddress;
    scheduler =
        NettyServerBuilder.forAddress(address)
            .bossEventLoopGroup(loops)
            .workerEventLoopGroup(loops)
            .channelType(socket ? NioServerDomainSocketChannel.class : NioServerSocketChannel.class)
            .directExecutor()
            .addService(policy)
            .build()
            .start();
  }

  private void end() throws InterruptedException {
    if (scheduler != null) {
      scheduler.shutdownNow().awaitTermination();
      scheduler = null;
    }
  }

  private int port() {
    return scheduler == null ? 0 : scheduler.getPort();
  }

  private void start(String parameters) throws Exception {
    start("127.0.0.1:" + port(), parameters);
  }

  private void start(String address, String parameters) throws Exception {
    start(address, parameters, parts -> parts.admin("127.0.0.1", 0));
  }

  private void start(
      String address, String parameters, UnaryOperator<DataPlaneConfig.Builder> parts)
      throws Exception {
    gateway =
        new GatewayUnderTest(
            temporary,
            "{plugins: [{type: external-scheduler, parameters: {address: \"%s\", %s}}]}"
                .formatted(address, parameters),
            "[]",
            parts);
  }

  /** Also on a machine that is busy. */
  private static ConditionFactory await() {
    return Awaitility.await().atMost(Duration.ofMinutes(1));
  }

  private void becomesUp() {
    await().until(() -> page().contains("fairlead_external_scheduler_up 1.0"));
  }

  @Test
  void requestsGoWhereItSays() throws Exception {
    start("timeout: 10s, headers: [X-Tenant]");
    becomesUp();
    for (String name : new String[] {"two", "one", "three"}) {
      policy.goTo(name);
      for (int i = 0; i < 5; i++) {
        assertThat(ask()).startsWith(name + ";");
      }
    }
    assertThat(count("followed")).isEqualTo(15);
    assertThat(count("overruled")).isZero();
    assertThat(policy.pools).containsExactly("default/test");
    Request last = policy.requests.toArray(Request[]::new)[14];
    assertThat(last.getModel()).isEqualTo("m");
    assertThat(last.getPriority()).isEqualTo(1);
    assertThat(last.getHeadersMap()).isEqualTo(Map.of("x-tenant", "blue"));
    assertThat(last.getPromptTokens()).isBetween(500, 3_000);
    assertThat(last.getPrefixMatchesList())
        .as("what earlier requests left in the servers' caches")
        .hasSize(3)
        .allMatch(match -> match.getCachedTokens() > 400);
    await().until(() -> policy.states.values().stream().allMatch(s -> s.getInFlight() == 0));
    assertThat(policy.states).hasSize(3).allSatisfy((n, s) -> assertThat(s.getInUse()).isTrue());
  }

  @Test
  void aCaptureHoldsWhatItSaidAndPicksTheSameWhenItIsReplayed() throws Exception {
    Path folder = temporary.resolve("capture");
    start(
        "127.0.0.1:" + port(),
        "timeout: 10s",
        parts -> parts.admin("127.0.0.1", 0).capture(CaptureConfig.to(folder)));
    becomesUp();
    for (String name : new String[] {"two", "one", "three", "three"}) {
      policy.goTo(name);
      assertThat(ask()).startsWith(name + ";");
    }
    Objects.requireNonNull(gateway).close();
    gateway = null;
    PicksReport report = PicksReplay.run(folder, List.of());
    assertThat(report.decisions()).isEqualTo(4);
    assertThat(report.differences()).isEmpty();
    assertThat(report.same()).isEqualTo(4);
  }

  @Test
  void aShadowAsksWithoutAnyEffectOnWhereRequestsGo() throws Exception {
    String external =
        "[{type: external-scheduler, parameters: {address: \"127.0.0.1:%d\", timeout: 10s}}]"
            .formatted(port());
    gateway =
        new GatewayUnderTest(
            temporary,
            "{plugins: [{type: queue-scorer}]}",
            "[{name: tried, scheduling: {plugins: " + external + "}}]",
            parts -> parts.admin("127.0.0.1", 0));
    String up = "fairlead_external_scheduler_up{shadow=\"tried\"} ";
    await().until(() -> page().contains(up + "1.0"));
    policy.goTo("two");
    String followed =
        "fairlead_external_scheduler_requests_total{shadow=\"tried\",result=\"followed\"} ";
    Set<String> chosen = new HashSet<>();
    await()
        .until(
            () -> {
              chosen.add(ask().replaceAll(";.*", ""));
              return chosen.size() > 1 && count(followed) > 0; // a busy process asks it about few
            });
    assertThat(policy.shadows).containsOnly("tried");
    await().until(() -> page().contains("fairlead_shadow_running{shadow=\"tried\"} 1.0"));

    policy.answers = (request, to) -> {}; // it hangs: nobody waits for that
    for (int i = 0; i < 30; i++) {
      assertThat(ask()).isNotEmpty();
    }
    end();
    await().until(() -> page().contains(up + "0.0"));
    assertThat(ask()).isNotEmpty();
    assertThat(page()).contains("fairlead_shadow_running{shadow=\"tried\"} 1.0");
  }

  @Test
  void theHighestScoreGetsTheRequest() throws Exception {
    start("timeout: 10s");
    becomesUp();
    policy.answers =
        (request, to) ->
            to.addDecisions(
                Decision.newBuilder()
                    .setRequest(request.getId())
                    .addEndpoints(policy.number("one"))
                    .addEndpoints(policy.number("two"))
                    .addEndpoints(policy.number("three"))
                    .addScores(-4)
                    .addScores(-5)
                    .addScores(1e9));
    for (int i = 0; i < 5; i++) {
      assertThat(ask()).startsWith("three;");
    }
  }

  @Test
  void overASocketAndFreshAfterARestart() throws Exception {
    end();
    Path socket = temporary.resolve("scheduler.sock");
    listen(UnixDomainSocketAddress.of(socket));
    start("unix:" + socket, "timeout: 10s");
    becomesUp();
    policy.goTo("two");
    assertThat(ask()).startsWith("two;");

    end();
    await().until(() -> page().contains("fairlead_external_scheduler_up 0.0"));
    assertThat(ask()).isNotEmpty();
    assertThat(count("unavailable")).isPositive();

    Files.deleteIfExists(socket);
    listen(UnixDomainSocketAddress.of(socket));
    becomesUp();
    policy.goTo("three");
    assertThat(ask()).startsWith("three;");
  }

  @Test
  void silenceCostsTheTimeoutAFewTimesAndThenNothing() throws Exception {
    start("timeout: 200ms");
    becomesUp();
    policy.answers = (request, to) -> {};
    await()
        .until(
            () -> {
              askAtOnce(16);
              return page().contains("fairlead_external_scheduler_up 0.0");
            });
    assertThat(count("late")).isGreaterThanOrEqualTo(16);
    double late = count("late");
    askAtOnce(32);
    assertThat(count("late") - late)
        .as("nobody waits for it any more but one in a while, on trial")
        .isLessThan(16);
    assertThat(count("unavailable")).isPositive();

    policy.goTo("two");
    await()
        .until(
            () -> {
              assertThat(ask()).isNotEmpty(); // one in a while asks on trial
              return page().contains("fairlead_external_scheduler_up 1.0");
            });
    await().until(() -> ask().startsWith("two;"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "left",
        "unknown endpoint",
        "endpoint twice",
        "NaN",
        "too few scores",
        "twice",
        "of nobody"
      })
  void whatItAnswersWrongHarmsNoRequest(String how) throws Exception {
    start("timeout: 10s");
    becomesUp();
    policy.answers =
        (request, to) -> {
          Decision.Builder decision = Decision.newBuilder().setRequest(request.getId());
          int one = policy.number("one");
          switch (how) {
            case "left" -> to.addDecisions(decision);
            case "unknown endpoint" -> to.addDecisions(decision.addEndpoints(77));
            case "endpoint twice" -> to.addDecisions(decision.addEndpoints(one).addEndpoints(one));
            case "NaN" -> to.addDecisions(decision.addEndpoints(one).addScores(Double.NaN));
            case "too few scores" ->
                to.addDecisions(decision.addEndpoints(one).addEndpoints(1).addScores(1));
            case "twice" ->
                to.addDecisions(decision.addEndpoints(one)).addDecisions(decision.build());
            default -> {
              for (int i = 0; i < 1_000; i++) {
                to.addDecisions(Decision.newBuilder().setRequest(1_000_000 + i));
              }
              to.addDecisions(decision.addEndpoints(one));
            }
          }
        };
    for (int i = 0; i < 10; i++) {
      assertThat(ask()).isNotEmpty();
    }
    switch (how) {
      case "left" -> assertThat(count("left")).isEqualTo(10);
      case "twice" -> await().until(() -> count("unexpected") == 10 && count("followed") == 10);
      case "of nobody" ->
          await().until(() -> count("unexpected") == 10_000 && count("followed") == 10);
      default -> assertThat(count("invalid")).isEqualTo(10);
    }
  }

  @Test
  void oneOfAnotherVersionIsNotAsked() throws Exception {
    policy.version = 2;
    start("timeout: 10s");
    await().until(() -> policy.pools.size() >= 2); // it is tried again
    assertThat(ask()).isNotEmpty();
    assertThat(count("unavailable")).isEqualTo(1);
    assertThat(policy.requests).isEmpty();
    assertThat(page()).contains("fairlead_external_scheduler_up 0.0");
  }

  @Test
  void aConfigThatNamesItNoMoreEndsIt() throws Exception {
    start("timeout: 10s");
    becomesUp();
    if (gateway != null) {
      gateway.configure("{plugins: [{type: random-picker}]}", "[]");
    }
    await().until(() -> !page().contains("fairlead_external_scheduler"));
    await().until(() -> policy.open.isEmpty());
    assertThat(ask()).isNotEmpty();
  }

  private void askAtOnce(int requests) {
    CompletableFuture<?>[] asked = new CompletableFuture<?>[requests];
    for (int i = 0; i < requests; i++) {
      asked[i] = client.sendAsync(request(), BodyHandlers.discarding());
    }
    CompletableFuture.allOf(asked).join();
  }

  /** The name of the server that got a request, and more of why. */
  private String ask() throws Exception {
    HttpResponse<String> answer = client.send(request(), BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.headers().firstValue("x-fairlead-decision").orElseThrow();
  }

  private HttpRequest request() {
    String url = gateway == null ? "" : gateway.url();
    return HttpRequest.newBuilder(URI.create(url + "/v1/completions"))
        .header("content-type", "application/json")
        .header("x-fairlead-explain", "true")
        .header("x-tenant", "blue")
        .POST(
            BodyPublishers.ofString(
                "{\"model\": \"m\", \"max_tokens\": 4, \"prompt\": \"%s\"}".formatted(PROMPT)))
        .build();
  }

  private String page() throws Exception {
    String url = gateway == null ? "" : gateway.adminUrl();
    return client
        .send(HttpRequest.newBuilder(URI.create(url + "/metrics")).build(), BodyHandlers.ofString())
        .body();
  }

  private double count(String result) throws Exception {
    String series =
        result.startsWith("fairlead")
            ? result
            : "fairlead_external_scheduler_requests_total{result=\"" + result + "\"} ";
    return page()
        .lines()
        .filter(line -> line.startsWith(series))
        .mapToDouble(line -> Double.parseDouble(line.substring(series.length())))
        .sum();
  }

  /** Answers as the test wants, and remembers what it was told. */
  private static final class Policy extends SchedulerGrpc.SchedulerImplBase {
    final Map<Integer, Endpoint> endpoints = new ConcurrentHashMap<>();
    final Map<Integer, EndpointState> states = new ConcurrentHashMap<>();
    final Queue<Request> requests = new ConcurrentLinkedQueue<>();
    final Queue<String> pools = new ConcurrentLinkedQueue<>();
    final Queue<String> shadows = new ConcurrentLinkedQueue<>();
    final Queue<Object> open = new ConcurrentLinkedQueue<>();
    volatile int version = 1;
    volatile BiConsumer<Request, SchedulerMessage.Builder> answers = (request, to) -> {};

    void goTo(String name) {
      answers =
          (request, to) ->
              to.addDecisions(
                  Decision.newBuilder().setRequest(request.getId()).addEndpoints(number(name)));
    }

    int number(String name) {
      return endpoints.values().stream()
          .filter(endpoint -> endpoint.getName().equals(name))
          .mapToInt(Endpoint::getNumber)
          .findFirst()
          .orElseThrow();
    }

    @Override
    public StreamObserver<PickerMessage> schedule(StreamObserver<SchedulerMessage> to) {
      return new StreamObserver<>() {
        @Override
        public void onNext(PickerMessage message) {
          SchedulerMessage.Builder answer = SchedulerMessage.newBuilder();
          if (message.hasHello()) {
            open.add(this);
            endpoints.clear();
            states.clear();
            pools.add(message.getHello().getPool());
            shadows.add(message.getHello().getShadow());
            answer.setHello(SchedulerHello.newBuilder().setVersion(version).setName("a test's"));
          }
          message.getRemovedList().forEach(endpoints::remove);
          message.getEndpointsList().forEach(one -> endpoints.put(one.getNumber(), one));
          message.getStatesList().forEach(one -> states.put(one.getEndpoint(), one));
          for (Request request : message.getRequestsList()) {
            requests.add(request);
            answers.accept(request, answer);
          }
          if (answer.hasHello() || answer.getDecisionsCount() > 0) {
            to.onNext(answer.build());
          }
        }

        @Override
        public void onError(Throwable thrown) {
          open.remove(this);
        }

        @Override
        public void onCompleted() {
          open.remove(this);
          to.onCompleted();
        }
      };
    }
  }
}
