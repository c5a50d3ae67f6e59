package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.fairlead.core.scheduling.MetricsSource;
import io.fairlead.epp.datalayer.MetricsScraper;
import io.fairlead.epp.tls.EndpointSecurity;
import io.fairlead.epp.tls.EndpointTls;
import io.fairlead.epp.tls.PemFiles;
import io.fairlead.stub.server.Fault;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.File;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Model servers with a certificate: requests, probes, metrics and lists of models. */
@ExtendWith(NoLeaks.class)
class EndpointTlsIT {

  private static final String NAME = "model-server";

  @TempDir private Path folder;

  private final MultiThreadIoEventLoopGroup stubLoops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private Path authorities;
  private ModelServer stub;
  private @Nullable DataPlane dataPlane;

  @BeforeEach
  void serve() throws Exception {
    Path pair = Files.createDirectory(folder.resolve("pair"));
    PemFiles.writeMade(pair, NAME, Instant.now());
    authorities = pair.resolve("tls.crt");
    File key = pair.resolve("tls.key").toFile();
    SslContext tls = SslContextBuilder.forServer(authorities.toFile(), key).build();
    stub =
        ModelServer.start(
            ModelServerConfig.builder("one", "a").instant().tls(tls).build(), stubLoops);
  }

  @AfterEach
  void stop() {
    if (dataPlane != null) {
      dataPlane.close();
    }
    stub.close();
    http.close();
    stubLoops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  private DataPlane start(EndpointSecurity security) throws Exception {
    return start(security, true);
  }

  /** Starts one that reads metrics as it sends requests, or as the pages say: verified. */
  private DataPlane start(EndpointSecurity security, boolean asRequests) throws Exception {
    Path resources = Files.createDirectory(folder.resolve("resources"));
    new Resources(resources)
        .pool()
        .model("Critical", "{name: a, weight: 1}")
        .endpoint("one", stub.address(), true);
    var pages = new MetricsSource(true, true, "/metrics", 0, null);
    DataPlane started =
        DataPlane.start(
            DataPlaneConfig.builder(new DataPlaneConfig.Folder(resources))
                .gateway("127.0.0.1", 0)
                .admin("127.0.0.1", 0)
                .endpoints(security)
                .scraping(MetricsScraper.Settings.DEFAULT.withPages(pages, asRequests))
                .loops(1)
                .build());
    dataPlane = started;
    started.ready().get(20, TimeUnit.SECONDS);
    return started;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void allThatIsAskedOfThemGoesOverTls(boolean verified) throws Exception {
    DataPlane plane =
        start(
            verified
                ? new EndpointSecurity.Verified(authorities, NAME)
                : new EndpointSecurity.Unverified());
    for (int i = 0; i < 3; i++) {
      assertThat(complete(plane)).isEqualTo(200);
    }
    await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> metrics(plane).contains("scrape_age_seconds{endpoint=\"one\"} 0."));
    // A server that is slow to say which it has is not waited for.
    await()
        .until(
            () -> get(plane.gatewayPort().orElseThrow(), "/v1/models").contains("\"root\":\"a\""));

    stub.faults().begin(Fault.REFUSE, true);
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> metrics(plane).contains("health{endpoint=\"one\",state=\"out\"} 1"));
    stub.faults().end(Fault.REFUSE);
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> !metrics(plane).contains("fairlead_probes_total{result=\"answered\"} 0.0"));
    await().atMost(Duration.ofSeconds(30)).until(() -> complete(plane) == 200);
  }

  @Test
  void oneWhoseCertificateIsOfSomebodyElsesAuthorityGetsNothing() throws Exception {
    Path other = Files.createDirectory(folder.resolve("other"));
    PemFiles.writeMade(other, NAME, Instant.now());
    getsNothing(new EndpointSecurity.Verified(other.resolve("tls.crt"), NAME));
  }

  @Test
  void whomToTrustIsReadAgainWhenItChangesAndTheLastGoodFileStays() throws Exception {
    Path other = Files.createDirectory(folder.resolve("other"));
    PemFiles.writeMade(other, NAME, Instant.now());
    Path trusted = folder.resolve("authorities.pem");
    Files.copy(other.resolve("tls.crt"), trusted);
    DataPlane plane = start(new EndpointSecurity.Verified(trusted, NAME));
    assertThat(complete(plane)).isEqualTo(502);

    Files.copy(authorities, trusted, StandardCopyOption.REPLACE_EXISTING);
    await().atMost(Duration.ofSeconds(30)).until(() -> complete(plane) == 200);
    await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> metrics(plane).contains("scrape_age_seconds{endpoint=\"one\"} 0."));

    Logger logger = (Logger) LoggerFactory.getLogger(EndpointTls.class);
    ListAppender<ILoggingEvent> told = new ListAppender<>();
    told.list = new CopyOnWriteArrayList<>();
    told.start();
    logger.addAppender(told);
    try {
      Files.writeString(trusted, "no certificate");
      await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> told.list.stream().anyMatch(line -> stays(line.getFormattedMessage())));
    } finally {
      logger.detachAppender(told);
    }
    stub.faults().begin(Fault.REFUSE, true); // ends the connections that there are
    stub.faults().end(Fault.REFUSE);
    await().atMost(Duration.ofSeconds(30)).until(() -> complete(plane) == 200);
  }

  private static boolean stays(String line) {
    return line.contains("the last good one stays in use");
  }

  @Test
  void oneWhoseCertificateIsForAnotherNameGetsNothing() throws Exception {
    getsNothing(new EndpointSecurity.Verified(authorities, null));
  }

  @Test
  void whoReadsMetricsVerifiedDoesNotTrustThemAsRequestsDo() throws Exception {
    DataPlane plane = start(new EndpointSecurity.Unverified(), false);
    assertThat(complete(plane)).isEqualTo(200);
    awaitNoMetrics(plane);
  }

  private void getsNothing(EndpointSecurity security) throws Exception {
    DataPlane plane = start(security);
    assertThat(complete(plane)).isEqualTo(502);
    awaitNoMetrics(plane);
    assertThat(stub.stats().requests()).isZero();
  }

  private void awaitNoMetrics(DataPlane plane) throws Exception {
    await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> !metrics(plane).contains("scrape_failures_total{endpoint=\"one\"} 0\n"));
    assertThat(metrics(plane)).contains("scrape_age_seconds{endpoint=\"one\"} NaN");
  }

  private int complete(DataPlane plane) throws Exception {
    return http.send(
            HttpRequest.newBuilder(uri(plane.gatewayPort().orElseThrow(), "/v1/completions"))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"model\":\"chat\",\"prompt\":\"p\"}"))
                .build(),
            HttpResponse.BodyHandlers.ofString())
        .statusCode();
  }

  private String metrics(DataPlane plane) throws Exception {
    return get(plane.adminPort().orElseThrow(), "/metrics");
  }

  private String get(int port, String path) throws Exception {
    return http.send(
            HttpRequest.newBuilder(uri(port, path)).build(), HttpResponse.BodyHandlers.ofString())
        .body();
  }

  private static URI uri(int port, String path) {
    return URI.create("http://127.0.0.1:" + port + path);
  }
}
