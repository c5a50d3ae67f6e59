package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HealthServerTest {
  /** In milliseconds, more than a request may take. */
  private static final int LONG = 60_000;

  private final HealthServer server =
      new HealthServer(
          0, () -> true, () -> true, new PrometheusMeterRegistry(PrometheusConfig.DEFAULT), null);

  @ParameterizedTest
  @CsvSource({
    "/healthz, 200",
    "/healthz?verbose, 200",
    "/readyz, 200",
    "/metrics, 200",
    "/metrics/, 404",
    "/metrics/all, 404",
    "/metricsall, 404",
    "/healthz/x, 404",
    "/, 404"
  })
  void aPageHasOnePath(String path, int code) throws Exception {
    try (server;
        HttpClient http = HttpClient.newHttpClient()) {
      assertThat(
              http.send(
                      HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                          .build(),
                      HttpResponse.BodyHandlers.discarding())
                  .statusCode())
          .isEqualTo(code);
    }
  }

  @Test
  void whoNeverEndsTheRequestIsNotWaitedForForEver() throws IOException {
    try (server;
        Socket slow = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      slow.setSoTimeout(LONG);
      slow.getOutputStream()
          .write(
              "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ".getBytes(StandardCharsets.US_ASCII));
      assertThat(slow.getInputStream().read()).as("the connection is closed").isEqualTo(-1);
    }
  }
}
