package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The port of metrics as others in a cluster see it, and what is made of it in dashboards. */
@ExtendWith(NoLeaks.class)
class MonitoringIT {
  private static final Path CONFIG = Path.of("../../config/monitoring");

  /** The operator's, and what kube-state-metrics tells of statuses, are held in its module. */
  private static final Pattern USED =
      Pattern.compile(
          "\\b((?!fairlead_(?:operator|picker|old_pool)_|fairlead_pool_ready\\b)fairlead_[a-z0-9_]+)(?:\\{([^}]*)})?");

  private static final Pattern LABEL = Pattern.compile("([a-z_]+)(?:=|!=|=~|!~)");

  /** Prometheus adds these itself. */
  private static final Set<String> OF_THE_SCRAPE = Set.of("namespace", "pod");

  @TempDir Path folder;

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
    dataPlane =
        DataPlane.start(
            DataPlaneConfig.builder(new DataPlaneConfig.Folder(folder))
                .gateway("127.0.0.1", 0)
                .extProc(
                    new DataPlaneConfig.ExtProc(
                        new DataPlaneConfig.Listen("127.0.0.1", 0), true, null, 1 << 20))
                .admin("0.0.0.0", 0)
                .loops(1)
                .build());
    dataPlane.ready().get(20, TimeUnit.SECONDS);
  }

  @AfterEach
  void stop() {
    dataPlane.close();
    stub.close();
    stubLoops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    http.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"rules.yaml", "prometheusrule.yaml", "dashboard.json"})
  void everyMetricAndLabelIsThereAfterTraffic(String file) throws Exception {
    assertThat(post("/v1/completions", "{\"model\":\"chat\",\"prompt\":\"p\"}")).isEqualTo(200);
    assertThat(post("/v1/completions", "{\"model\":\"chat\",\"prompt\":\"p\",\"stream\":true}"))
        .isEqualTo(200);
    assertThat(post("/nothing", "{}")).isEqualTo(404);
    await().until(() -> metrics().contains("outcome=\"completed\"} 2.0"));
    // What else is counted of a request comes after that.
    await().untilAsserted(() -> namesAreIn(metrics(), file));
  }

  private static void namesAreIn(String page, String file) throws IOException {
    Set<String> missing = new TreeSet<>();
    Set<String> used = new TreeSet<>();
    USED.matcher(Files.readString(CONFIG.resolve(file)).replace("\\\"", "\""))
        .results()
        .forEach(
            match -> {
              used.add(match.group(1));
              if (series(page, match.group(1)).isEmpty()) {
                missing.add(match.group(1));
              } else if (match.group(2) != null) {
                labels(match.group(2)).stream()
                    .filter(label -> !series(page, match.group(1)).contains(label + "=\""))
                    .forEach(label -> missing.add(match.group(1) + "{" + label + "}"));
              }
            });
    assertThat(used).hasSizeGreaterThan(5);
    assertThat(missing).as("names in %s that no picker has", file).isEmpty();
  }

  /** No number is in no comparison of PromQL, neither larger nor smaller. */
  @Test
  void aServerThatNeverShowedItsMetricsIsAmongThoseThatTheAlertCounts() throws Exception {
    HttpServer silent =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    silent.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(404, -1);
          exchange.close();
        });
    silent.start();
    try {
      new Resources(folder).endpoint("two", silent.getAddress(), true);
      String page =
          await()
              .until(
                  this::metrics,
                  now ->
                      now.contains("fairlead_scrape_failures_total{endpoint=\"two\"}")
                          && now.contains("scrape_age_seconds{endpoint=\"one\"} 0."));
      assertThat(page).contains("scrape_age_seconds{endpoint=\"two\"} NaN");
      Matcher rule =
          Pattern.compile("\\((fairlead_endpoint_scrape_age_seconds) unless \\1 <= (\\d+)\\) > 0")
              .matcher(Files.readString(CONFIG.resolve("rules.yaml")));
      assertThat(rule.find()).as("whoever is not known to be young enough counts").isTrue();
      double limit = Double.parseDouble(rule.group(2));
      assertThat(
              series(page, rule.group(1))
                  .lines()
                  .filter(
                      line -> !(Double.parseDouble(line.substring(line.indexOf(' '))) <= limit)))
          .singleElement()
          .asString()
          .contains("endpoint=\"two\"");
    } finally {
      silent.stop(0);
    }
  }

  @Test
  void aPoolWithoutServersIsAlertedOnOnceARequestHasFailedForIt() throws Exception {
    Matcher rule =
        Pattern.compile(
                "\\((fairlead_pool_endpoints_ready)\\) == 0 and on \\(namespace, pod\\) .*rate\\((fairlead_requests_total)\\{(outcome=\"[a-z_]+\")}\\[5m\\]\\)\\) > 0\"")
            .matcher(Files.readString(CONFIG.resolve("rules.yaml")).replace("\\\"", "\""));
    assertThat(rule.find()).as("it takes both").isTrue();
    new Resources(folder).endpoint("one", stub.address(), false);
    await().until(() -> series(metrics(), rule.group(1)).endsWith(" 0.0"));
    assertThat(series(metrics(), rule.group(2))).doesNotContain(rule.group(3));
    assertThat(post("/v1/completions", "{\"model\":\"chat\",\"prompt\":\"p\"}")).isEqualTo(503);
    await().until(() -> series(metrics(), rule.group(2)).contains(rule.group(3)));
  }

  @Test
  void addressesOfServersAreForThisHostAlone() throws Exception {
    assertThat(get(InetAddress.getLoopbackAddress(), "/debug/status").statusCode()).isEqualTo(200);
    InetAddress other =
        NetworkInterface.networkInterfaces()
            .flatMap(NetworkInterface::inetAddresses)
            .filter(address -> address instanceof Inet4Address)
            .filter(address -> !address.isLoopbackAddress())
            .findFirst()
            .orElse(null);
    Assumptions.assumeTrue(other != null, "this machine has no address but the loopback");
    HttpResponse<String> refused = get(other, "/debug/status");
    assertThat(refused.statusCode()).isEqualTo(403);
    assertThat(refused.body()).contains("kubectl port-forward").doesNotContain("endpointList");
    assertThat(get(other, "/metrics").statusCode()).isEqualTo(200);
    assertThat(get(other, "/readyz").statusCode()).isEqualTo(200);
  }

  /** Lines of one metric, or of its buckets. */
  private static String series(String page, String name) {
    return page.lines()
        .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
        .collect(Collectors.joining("\n"));
  }

  private static Set<String> labels(String selector) {
    return LABEL
        .matcher(selector)
        .results()
        .map(match -> match.group(1))
        .filter(label -> !OF_THE_SCRAPE.contains(label))
        .collect(Collectors.toSet());
  }

  private int post(String path, String body) throws IOException, InterruptedException {
    return http.send(
            HttpRequest.newBuilder(
                    uri(
                        InetAddress.getLoopbackAddress(),
                        dataPlane.gatewayPort().orElseThrow(),
                        path))
                .timeout(Duration.ofSeconds(20))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build(),
            HttpResponse.BodyHandlers.ofString())
        .statusCode();
  }

  private String metrics() throws IOException, InterruptedException {
    return get(InetAddress.getLoopbackAddress(), "/metrics").body();
  }

  private HttpResponse<String> get(InetAddress host, String path)
      throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(uri(host, dataPlane.adminPort().orElseThrow(), path)).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static URI uri(InetAddress host, int port, String path) {
    return URI.create("http://" + host.getHostAddress() + ":" + port + path);
  }
}
