package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What /metrics says of requests that wait for a server that takes one at a time. */
@ExtendWith(NoLeaks.class)
class QueueMetricsIT {

  private static final String PATH = "/v1/completions";
  private static final String BODY = "{\"model\":\"m\",\"prompt\":\"x\"}";

  @TempDir Path folder;

  private final Semaphore answers = new Semaphore(0);
  private final HttpClient http = HttpClient.newHttpClient();

  private DataPlane start(RawBackend backend, String ttl) throws Exception {
    Path endpoints = folder.resolve("endpoints.yaml");
    Files.writeString(
        endpoints,
        "endpoints: [{name: a, address: 127.0.0.1, port: %d}]\n".formatted(backend.spec().port()));
    Path config = folder.resolve("config.yaml");
    Files.writeString(
        config,
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha1
        kind: EndpointPickerConfig
        featureGates: [flowControl]
        plugins:
        - {type: concurrency-detector, name: room, parameters: {maxConcurrency: 1}}
        saturationDetector: {pluginRef: room}
        flowControl:
          maxRequests: 2
          defaultRequestTTL: %s
        """
            .formatted(ttl));
    DataPlane started =
        DataPlane.start(
            DataPlaneConfig.builder(new DataPlaneConfig.Files(endpoints, config))
                .gateway("127.0.0.1", 0)
                .admin("127.0.0.1", 0)
                .loops(1)
                .build());
    started.ready().get(20, TimeUnit.SECONDS);
    return started;
  }

  private RawBackend backend() throws Exception {
    return new RawBackend(
        "a",
        (connection, request) -> {
          // Scrapes and probes are answered at once.
          if (request.text().equals(BODY)) {
            answers.acquire();
          }
          connection.respond(200, "", "{}");
        });
  }

  private String metrics(DataPlane dataPlane) throws IOException, InterruptedException {
    URI page = URI.create("http://127.0.0.1:" + dataPlane.adminPort().orElseThrow() + "/metrics");
    return http.send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString())
        .body();
  }

  private void awaitMetrics(DataPlane dataPlane, String... lines) {
    await().untilAsserted(() -> assertThat(metrics(dataPlane).lines()).contains(lines));
  }

  @Test
  void tellsWhoWaitsAndHowWaitsEnd() throws Exception {
    try (RawBackend backend = backend();
        DataPlane dataPlane = start(backend, "1m");
        RawHttp first = RawHttp.connect(dataPlane.gatewayPort().orElseThrow());
        RawHttp third = RawHttp.connect(dataPlane.gatewayPort().orElseThrow());
        RawHttp fourth = RawHttp.connect(dataPlane.gatewayPort().orElseThrow())) {
      first.post(PATH, BODY);
      awaitMetrics(dataPlane, "fairlead_pool_saturation 1", "fairlead_pool_queue_seconds 0");
      try (RawHttp second = RawHttp.connect(dataPlane.gatewayPort().orElseThrow())) {
        second.post(PATH, BODY);
        awaitMetrics(dataPlane, "fairlead_queue_requests{priority=\"0\"} 1");
        third.post(PATH, BODY);
        awaitMetrics(
            dataPlane,
            "fairlead_queue_requests{priority=\"0\"} 2",
            "fairlead_queue_bytes{priority=\"0\"} " + 2 * BODY.length(),
            "inference_extension_flow_control_queue_size"
                + "{priority=\"0\",inference_pool=\"local\"} 2",
            "inference_extension_flow_control_pool_saturation{inference_pool=\"local\"} 1");
        assertThat(metrics(dataPlane))
            .doesNotContain(
                "fairlead_pool_queue_seconds 0\n", "server_seconds{priority=\"0\"} 0\n");
        fourth.post(PATH, BODY);
        assertThat(fourth.read().status()).isEqualTo(429);
        awaitMetrics(
            dataPlane,
            "fairlead_queue_outcomes_total{priority=\"0\",outcome=\"queue_full\"} 1",
            "inference_extension_flow_control_request_queue_duration_seconds_count"
                + "{priority=\"0\",outcome=\"RejectedCapacity\",inference_pool=\"local\"} 1");
      }
      awaitMetrics(
          dataPlane, "fairlead_queue_outcomes_total{priority=\"0\",outcome=\"cancelled\"} 1");
      await().until(() -> dataPlane.report().saturatedSince() != null);
      answers.release(2);
      assertThat(third.read().status()).isEqualTo(200);
      awaitMetrics(
          dataPlane,
          "fairlead_queue_outcomes_total{priority=\"0\",outcome=\"dispatched\"} 1",
          "fairlead_queue_wait_seconds_count{priority=\"0\",outcome=\"dispatched\"} 1",
          "fairlead_queue_wait_seconds_bucket{priority=\"0\",outcome=\"dispatched\",le=\"+Inf\"} 1",
          "fairlead_queue_requests{priority=\"0\"} 0",
          "fairlead_pool_queue_seconds 0");
    }
  }

  @Test
  void tellsWhoWaitedTooLong() throws Exception {
    try (RawBackend backend = backend();
        DataPlane dataPlane = start(backend, "100ms");
        RawHttp first = RawHttp.connect(dataPlane.gatewayPort().orElseThrow());
        RawHttp second = RawHttp.connect(dataPlane.gatewayPort().orElseThrow())) {
      first.post(PATH, BODY);
      awaitMetrics(dataPlane, "fairlead_pool_saturation 1");
      second.post(PATH, BODY);
      assertThat(second.read().status()).isEqualTo(429);
      awaitMetrics(
          dataPlane, "fairlead_queue_outcomes_total{priority=\"0\",outcome=\"timed_out\"} 1");
      answers.release();
      assertThat(first.read().status()).isEqualTo(200);
    }
  }
}
