package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import io.fairlead.crds.testing.GeneratedPage;
import io.fairlead.crds.testing.MetricsReference;
import io.fairlead.epp.capture.CaptureConfig;
import io.fairlead.epp.console.ConsoleConfig;
import io.fairlead.stub.server.Fault;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** What a data plane shows of itself after requests: every metric by name, and no prompt. */
@ExtendWith(NoLeaks.class)
class TelemetryIT {

  private static final String MARKER = "zq9-secret-prompt-7xk";

  /** Nobody is there. */
  private static final String EXTERNAL =
      "{type: external-scheduler, parameters: {address: '127.0.0.1:1'}}";

  @TempDir Path folder;
  @TempDir Path captured;

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final MultiThreadIoEventLoopGroup stubLoops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final ModelServer stub =
      ModelServer.start(
          ModelServerConfig.builder("one", "a").instant().promptTokensDetails(true).build(),
          stubLoops);
  private DataPlane dataPlane;

  @BeforeEach
  void start() throws Exception {
    new Resources(folder)
        .pool()
        .model("Critical", "{name: a, weight: 1}")
        .endpoint("one", stub.address(), true);
    writePicker("{plugins: [" + EXTERNAL + "]}");
    dataPlane =
        DataPlane.start(
            DataPlaneConfig.builder(new DataPlaneConfig.Folder(folder))
                .gateway("127.0.0.1", 0)
                .extProc(
                    new DataPlaneConfig.ExtProc(
                        new DataPlaneConfig.Listen("127.0.0.1", 0), true, null, 1 << 20))
                .admin("127.0.0.1", 0)
                .console(new ConsoleConfig(null))
                .capture(new CaptureConfig(captured, 1, 1 << 20, 2, List.of(), null))
                .loops(1)
                .build());
    dataPlane.ready().get(20, TimeUnit.SECONDS);
  }

  private void writePicker(String scheduling) {
    new Resources(folder)
        .write(
            "picker.yaml",
            """
            apiVersion: fairlead.io/v1alpha1
            kind: EndpointPicker
            metadata: {name: mine, namespace: default}
            spec:
              poolRef: {name: pool}
              scheduling: %s
              shadows: [{name: tried, scheduling: {plugins: [%s], schedulingProfiles: [{name: weighted}]}}]
            """
                .formatted(scheduling, EXTERNAL));
  }

  @AfterEach
  void stop() {
    dataPlane.close();
    stub.close();
    stubLoops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    http.close();
  }

  @Test
  void theNamesOfMetricsAreAContract() throws Exception {
    assertThat(post("{\"model\":\"chat\",\"prompt\":\"p\"}").statusCode()).isEqualTo(200);
    assertThat(post("{\"model\":\"chat\",\"prompt\":\"p\",\"stream\":true}").statusCode())
        .isEqualTo(200);
    await().until(() -> metrics().contains("outcome=\"completed\"} 2.0"));
    await().until(() -> metrics().contains("scrape_age_seconds{endpoint=\"one\"} 0."));
    // What else is counted of a request comes after that.
    await().untilAsserted(() -> isAsPromised(metrics()));
    causeTheRest();
    // The last of it may be counted later than its request is answered.
    await().untilAsserted(() -> held(metrics()));
  }

  /** Of families that are not there before something of their kind has happened. */
  private void causeTheRest() throws Exception {
    assertThat(post("{\"model\":").statusCode()).isEqualTo(400);
    post(
        "{\"model\":\"chat\",\"prompt\":\"p\"}",
        "x-fairlead-timeout-total",
        "1m",
        "x-slo-ttft-ms",
        "900");
    writePicker(
        "{plugins: [%s, {type: concurrency-detector, parameters: {maxConcurrency: 1}}],"
                .formatted(EXTERNAL)
            + " schedulingProfiles: [{name: cost}],"
            + " saturationDetector: {pluginRef: concurrency-detector}}");
    await().until(() -> metrics().contains("reloads_total{result=\"applied\"} 2.0"));
    stub.faults().stall(true);
    String request = "{\"model\":\"chat\",\"prompt\":\"p\"}";
    CompletableFuture<HttpResponse<String>> first = postAsync(request);
    await().until(() -> metrics().contains("in_flight{endpoint=\"one\"} 1\n"));
    CompletableFuture<HttpResponse<String>> second = postAsync(request);
    await().until(() -> metrics().contains("queue_requests{priority=\"1\"} 1"));
    stub.faults().stall(false);
    assertThat(first.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    assertThat(second.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    stub.faults().resetNext(4);
    assertThat(post(request).statusCode()).isEqualTo(502);
    stub.faults().begin(Fault.REFUSE, true);
    await().until(() -> metrics().contains("health_transitions_total"));
  }

  private static void held(String scraped) throws IOException {
    MetricsReference metrics = new MetricsReference(scraped);
    GeneratedPage page =
        new GeneratedPage(
            "Metrics of pickers",
            """
            Every metric that a picker can have at `/metrics`, as `fairlead epp` and `fairlead gateway` alike; some are there once something of their kind has \
            happened, or where it is switched on. [operations.md](../operations.md#metrics) says how to read them, and has alerts and a dashboard; those of the \
            operator are on [a page of their own](operator-metrics.md).

            A histogram has `_bucket`, `_sum` and `_count`, and beside it the largest recent value as `_max`. What has no unit is a number of things, or a share of 1.
            """);
    metrics.add(page);
    page.hold("reference/metrics.md", TelemetryIT.class);
  }

  private static void isAsPromised(String page) {
    assertThat(page.lines().filter(line -> line.startsWith("# TYPE ")))
        .as("each has one header")
        .doesNotHaveDuplicates();
    assertThat(page)
        .contains(
            "fairlead_requests_total{criticality=\"critical\",model=\"chat\",outcome=\"completed\"} 2.0",
            "fairlead_scheduling_latency_seconds_count 2",
            // Of the streamed one alone: a whole answer's first byte is no first token.
            "fairlead_time_to_first_token_seconds_count{model=\"chat\"} 1",
            "fairlead_request_duration_seconds_count{model=\"chat\"} 2",
            "fairlead_response_body_bytes_count{model=\"chat\"} 2",
            "fairlead_request_retries_total{reason=\"refused\"} 0.0",
            "fairlead_request_retries_total{reason=\"given_up\"} 0.0",
            "fairlead_endpoint_health{endpoint=\"one\",state=\"in_use\"} 1\n",
            "fairlead_endpoint_health{endpoint=\"one\",state=\"out\"} 0\n",
            "fairlead_endpoint_failure_risk{endpoint=\"one\"} 0\n",
            "fairlead_scrape_failures_total{endpoint=\"one\"} 0\n",
            "fairlead_endpoint_in_flight{endpoint=\"one\"} 0\n",
            "fairlead_endpoint_queue{endpoint=\"one\"} 0\n",
            "fairlead_endpoint_sent_total{endpoint=\"one\"} 2\n",
            "inference_pool_per_pod_queue_size{model_server_pod=\"one\",name=\"",
            "inference_objective_request_duration_seconds_count{model_name=\"chat\"} 2",
            "fairlead_ext_proc_protocol_errors_total 0.0",
            "fairlead_ext_proc_failures_total 0.0");
  }

  @Test
  void clientsCannotMakeSeries() throws Exception {
    for (int i = 0; i < 3; i++) {
      post("{\"model\":\"made-up-" + i + "\",\"prompt\":\"p\"}");
    }
    await().until(() -> metrics().contains("model=\"unknown\""));
    assertThat(metrics()).doesNotContain("made-up");
  }

  @Test
  void whatMayNotBeDoneIsAnsweredWithWhatMay() throws Exception {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(uri(dataPlane.adminPort().orElseThrow(), "/metrics"))
                .DELETE()
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).isEqualTo(405);
    assertThat(answer.headers().firstValue("allow")).contains("GET, HEAD");
  }

  @Test
  void modelsAreThoseConfiguredAndThoseServed() throws Exception {
    HttpRequest asking =
        HttpRequest.newBuilder(uri(dataPlane.gatewayPort().orElseThrow(), "/v1/models")).build();
    // A server that is slow to say which it has is not waited for.
    await()
        .untilAsserted(
            () -> {
              HttpResponse<String> models = http.send(asking, HttpResponse.BodyHandlers.ofString());
              assertThat(models.statusCode()).isEqualTo(200);
              assertThat(models.body()).contains("\"id\":\"chat\"", "\"root\":");
            });
  }

  @Test
  void noPromptIsEverShown() throws Exception {
    Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    Level before = root.getLevel();
    log.start();
    root.addAppender(log);
    root.setLevel(Level.DEBUG);
    String shown;
    try {
      root.debug("the log is captured");
      post("{\"model\":\"chat\",\"prompt\":\"" + MARKER + "\"}");
      post("{\"model\":\"chat\",\"prompt\":\"" + MARKER + "\",\"stream\":true}");
      post("{\"model\":\"none\",\"prompt\":\"" + MARKER + "\"}");
      assertThat(post("{\"model\":\"chat\",\"prompt\":\"" + MARKER).statusCode()).isEqualTo(400);
      assertThat(post("{\"prompt\":\"" + MARKER + "\"}").statusCode()).isEqualTo(400);
      assertThat(post("\"" + MARKER + "\"").body()).doesNotContain(MARKER);
      stub.faults().resetNext(4);
      assertThat(post("{\"model\":\"chat\",\"prompt\":\"" + MARKER + "\"}").statusCode())
          .isEqualTo(502);
      new Resources(folder).model("Urgent", "{name: a, weight: 1}"); // a refusal is logged, too
      await().until(() -> dataPlane.report().refused() != null);
      shown = metrics() + get("/debug/status") + get("/readyz") + get("/debug/decisions");
    } finally {
      root.setLevel(before);
      root.detachAppender(log);
    }
    List<String> lines = List.copyOf(log.list).stream().map(TelemetryIT::text).toList();
    assertThat(lines)
        .anyMatch(line -> line.contains("the log is captured"))
        .anyMatch(line -> line.contains("Urgent"))
        .noneMatch(line -> line.contains(MARKER));
    assertThat(shown).contains("fairlead_requests_total").doesNotContain(MARKER);
  }

  @Test
  void aRequestIsFoundByItsNameWithWhatWasDecidedOfIt() throws Exception {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(uri(dataPlane.gatewayPort().orElseThrow(), "/v1/completions"))
                .header("content-type", "application/json")
                .header("x-request-id", "mine-1")
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        "{\"model\":\"chat\",\"prompt\":\"p\",\"stream\":true}"))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).isEqualTo(200);
    await().until(() -> get("/debug/decisions/mine-1").contains("\"outcome\":\"completed\""));
    assertThat(get("/debug/decisions/mine-1"))
        .contains(
            "\"id\":\"mine-1\"",
            "\"model\":\"chat\"",
            "\"targetModel\":\"a\"",
            "\"attempts\":1",
            "\"configHash\":\"" + dataPlane.report().configHash() + "\"",
            "\"endpoint\":\"one\"",
            "\"firstTokenMillis\":",
            "\"expectedFirstTokenMillis\":",
            "\"plugin\":\"work-cost\",\"score\":1.0,\"weight\":1.0",
            "\"name\":\"its own prefill\",\"millis\":");
    assertThat(get("/debug/decisions?endpoint=one&outcome=completed")).contains("\"mine-1\"");
    assertThat(get("/debug/decisions?model=other")).contains("\"requests\":[]");
    assertThat(get("/debug/decisions?limit=0")).contains("limit from 1 to 9999");
    assertThat(get("/debug/decisions?outcome=bogus"))
        .startsWith("no such outcome: set one of ")
        .contains("completed", "open", "upstream_failed");
    assertThat(get("/debug/decisions/nobody")).contains("no decision on a request of this id");
  }

  private static String text(ILoggingEvent event) {
    return event.getFormattedMessage()
        + event.getKeyValuePairs()
        + event.getMDCPropertyMap()
        + (event.getThrowableProxy() == null
            ? ""
            : ThrowableProxyUtil.asString(event.getThrowableProxy()));
  }

  private HttpResponse<String> post(String body, String... headers)
      throws IOException, InterruptedException {
    return http.send(request(body, headers), HttpResponse.BodyHandlers.ofString());
  }

  private CompletableFuture<HttpResponse<String>> postAsync(String body) {
    return http.sendAsync(request(body), HttpResponse.BodyHandlers.ofString());
  }

  private HttpRequest request(String body, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri(dataPlane.gatewayPort().orElseThrow(), "/v1/completions"))
            .timeout(Duration.ofSeconds(20))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return request.build();
  }

  /** What the pool's loop has to be asked for is there later than what is not. */
  @Test
  void answersComeInTheOrderOfTheirRequests() throws Exception {
    try (Socket socket =
        new Socket(InetAddress.getLoopbackAddress(), dataPlane.adminPort().orElseThrow())) {
      String asked =
          """
          GET /debug/status HTTP/1.1
          Host: localhost

          GET /healthz HTTP/1.1
          Host: localhost

          GET /nothing HTTP/1.1
          Host: localhost
          Connection: close

          """
              .replace("\n", "\r\n");
      socket.getOutputStream().write(asked.getBytes(StandardCharsets.US_ASCII));
      String answers =
          new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      assertThat(answers)
          .containsSubsequence(
              "application/json", "\"endpoints\"", "ok\n", "HTTP/1.1 404", "there are /metrics");
    }
  }

  @Test
  void aBrowserFindsAllPagesFromTheFirst() throws Exception {
    for (String start : List.of("/", "/debug", "/debug/")) {
      assertThat(get(start))
          .contains(
              "<a href=\"/metrics\">",
              "<a href=\"/debug/status\">",
              "<a href=\"/debug/decisions\">",
              "<a href=\"/console/\">");
    }
    assertThat(get("/nothing")).startsWith("there are /metrics").contains(" and /console/");
  }

  @Test
  void anAddressThatIsNotEncodedRightIsAnsweredAndTheNextOne() throws Exception {
    try (Socket socket =
        new Socket(InetAddress.getLoopbackAddress(), dataPlane.adminPort().orElseThrow())) {
      ask(socket, "/debug/decisions/%zz");
      ask(socket, "/debug/decisions?model=%zz");
      ask(socket, "/debug/decisions/");
      socket
          .getOutputStream()
          .write(
              "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                  .getBytes(StandardCharsets.US_ASCII));
      assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
          .containsSubsequence(
              "HTTP/1.1 400", "must follow each %", "HTTP/1.1 400", "HTTP/1.1 404", "ok\n");
    }
  }

  /** What a proxy on this host passes on has its header last, behind what its client has sent. */
  @Test
  void whoseHeadersAreTooLongIsNotTakenForSomebodyOfThisHost() throws Exception {
    try (Socket socket =
        new Socket(InetAddress.getLoopbackAddress(), dataPlane.adminPort().orElseThrow())) {
      String asked =
          "GET /debug/status HTTP/1.1\r\nHost: localhost\r\nX-Filler: "
              + "x".repeat(20_000)
              + "\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n";
      socket.getOutputStream().write(asked.getBytes(StandardCharsets.US_ASCII));
      assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
          .startsWith("HTTP/1.1 431 ")
          .doesNotContain("endpointList");
    }
  }

  /** Behind an answer that goes on for ten minutes there would be nothing but waiting. */
  @Test
  void whoAsksAgainOnAStreamOfTheConsoleIsCutOff() throws Exception {
    try (Socket socket =
        new Socket(InetAddress.getLoopbackAddress(), dataPlane.adminPort().orElseThrow())) {
      ask(socket, "/console/events");
      InputStream events = socket.getInputStream();
      assertThat((char) events.read()).isEqualTo('H');

      ask(socket, "/healthz");

      CompletableFuture<String> rest =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return new String(events.readAllBytes(), StandardCharsets.UTF_8);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      assertThat(rest.get(20, TimeUnit.SECONDS)).contains("event: hello").doesNotContain("ok\n");
    }
  }

  /** Every pod of the cluster can connect, and need not ask anything. */
  @Test
  void whoHasAskedNothingForLongestMakesRoomForOthers() throws Exception {
    List<Socket> silent = new ArrayList<>();
    try {
      for (int i = 0; i < 300; i++) {
        Socket socket =
            new Socket(InetAddress.getLoopbackAddress(), dataPlane.adminPort().orElseThrow());
        socket.setSoTimeout(20_000); // a bound on a hang, not on a passing test
        silent.add(socket);
        socket.getOutputStream().write("GET /he".getBytes(StandardCharsets.US_ASCII));
      }
      assertThat(get("/healthz")).isEqualTo("ok\n");
      assertThat(silent.getFirst().getInputStream().read()).as("closed").isEqualTo(-1);
      Socket last = silent.getLast();
      last.getOutputStream()
          .write("althz HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      assertThat((char) last.getInputStream().read()).isEqualTo('H');
    } finally {
      for (Socket socket : silent) {
        socket.close();
      }
    }
  }

  private static void ask(Socket socket, String path) throws IOException {
    String asked = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    socket.getOutputStream().write(asked.getBytes(StandardCharsets.US_ASCII));
  }

  private String metrics() throws IOException, InterruptedException {
    return get("/metrics");
  }

  private String get(String path) throws IOException, InterruptedException {
    return http.send(
            HttpRequest.newBuilder(uri(dataPlane.adminPort().orElseThrow(), path)).build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  private static URI uri(int port, String path) {
    return URI.create("http://127.0.0.1:" + port + path);
  }
}
