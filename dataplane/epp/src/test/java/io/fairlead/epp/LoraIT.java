package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
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
  private final MultiThreadIoEventLoopGroup stubLoops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final ModelServer one = stub("one");
  private final ModelServer two = stub("two");

  private ModelServer stub(String name) {
    return ModelServer.start(
        ModelServerConfig.builder(name, "base", "french", "poetry").maxAdapters(2).build(),
        stubLoops);
  }

  @AfterEach
  void stop() {
    one.close();
    two.close();
    stubLoops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    http.close();
  }

  @Test
  void requestsOfAnAdapterGoWhereItRuns() throws Exception {
    Path endpoints =
        Files.writeString(
            folder.resolve("endpoints.yaml"),
            "endpoints:\n- {name: one, address: 127.0.0.1, port: %d}\n- {name: two, address: 127.0.0.1, port: %d}\n"
                .formatted(one.address().getPort(), two.address().getPort()));
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
            request(two.address().getPort(), "french", 100_000, true),
            HttpResponse.BodyHandlers.ofInputStream());
    try (DataPlane dataPlane =
        DataPlane.start(
            DataPlaneConfig.builder(new DataPlaneConfig.Files(endpoints, config))
                .gateway("127.0.0.1", 0)
                .loops(1)
                .build())) {
      dataPlane.ready().get(20, TimeUnit.SECONDS);
      int port = dataPlane.gatewayPort().orElseThrow();
      await("what both servers say")
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  dataPlane.snapshot().get(5, TimeUnit.SECONDS).stream()
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
        http.send(request(port, model, 1, false), HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.headers().firstValue("x-stub-endpoint").orElseThrow();
  }

  private static HttpRequest request(int port, String model, int tokens, boolean stream) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/completions"))
        .timeout(Duration.ofSeconds(60))
        .header("content-type", "application/json")
        .POST(
            HttpRequest.BodyPublishers.ofString(
                "{\"model\":\"%s\",\"prompt\":\"p\",\"max_tokens\":%d,\"stream\":%s}"
                    .formatted(model, tokens, stream)))
        .build();
  }
}
