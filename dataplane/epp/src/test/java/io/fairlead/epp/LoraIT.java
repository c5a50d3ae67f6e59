package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** An adapter that a server says it runs draws the requests of that adapter, and no others. */
@ExtendWith(NoLeaks.class)
class LoraIT {

  @TempDir Path folder;

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final TwoStubs stubs =
      new TwoStubs(each -> each.maxAdapters(2), "base", "french", "poetry");

  @AfterEach
  void stop() {
    stubs.close();
    http.close();
  }

  @Test
  void requestsOfAnAdapterGoWhereItRuns() throws Exception {
    Path config =
        Files.writeString(
            folder.resolve("config.yaml"),
            """
            apiVersion: inference.networking.x-k8s.io/v1alpha1
            kind: EndpointPickerConfig
            plugins: [{type: lora-affinity-scorer}]
            """);
    // Somebody else's: the picker can know of it from the server's metrics only.
    HttpResponse<InputStream> running =
        http.send(
            TwoStubs.completion(stubs.portOfTwo(), "french", 100_000, true),
            HttpResponse.BodyHandlers.ofInputStream());
    try (DataPlane dataPlane = stubs.gateway(folder, config)) {
      int port = dataPlane.gatewayPort().orElseThrow();
      await("what both servers say")
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  dataPlane.snapshot().get(30, TimeUnit.SECONDS).stream()
                      .noneMatch(row -> Double.isNaN(row.state().kvUsage())));
      TreeSet<String> ofBase = new TreeSet<>();
      for (int i = 0; i < 40; i++) {
        ofBase.add(ask(port, "base"));
      }
      assertThat(ofBase).as("the base model needs no adapter").hasSize(2);
      for (int i = 0; i < 10; i++) {
        assertThat(ask(port, "french")).isEqualTo("two");
      }
    } finally {
      running.body().close();
    }
  }

  private String ask(int port, String model) throws IOException, InterruptedException {
    HttpResponse<String> answer =
        http.send(TwoStubs.completion(port, model, 1, false), HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.headers().firstValue("x-stub-endpoint").orElseThrow();
  }
}
