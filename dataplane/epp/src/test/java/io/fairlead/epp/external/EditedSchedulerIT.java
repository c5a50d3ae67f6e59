package io.fairlead.epp.external;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.DataPlane;
import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.scheduler.v1.Decision;
import io.fairlead.scheduler.v1.PickerMessage;
import io.fairlead.scheduler.v1.SchedulerGrpc;
import io.fairlead.scheduler.v1.SchedulerHello;
import io.fairlead.scheduler.v1.SchedulerMessage;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests wait for room while the settings of the scheduler that is asked about them change. */
class EditedSchedulerIT {

  private static final String BODY = "{\"model\":\"m\",\"prompt\":\"hi\"}";

  @TempDir private Path folder;

  private final Semaphore answers = new Semaphore(0);

  private static ConditionFactory await(String what) {
    return Awaitility.await(what).atMost(Duration.ofSeconds(30));
  }

  private void configure(Server scheduler, String timeout) throws Exception {
    Files.writeString(
        folder.resolve("config.yaml"),
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha1
        kind: EndpointPickerConfig
        featureGates: [flowControl]
        plugins:
        - {type: concurrency-detector, name: room, parameters: {maxConcurrency: 1}}
        - type: external-scheduler
          parameters: {address: "127.0.0.1:%d", timeout: %s, refresh: 100ms}
        saturationDetector: {pluginRef: room}
        flowControl: {defaultRequestTTL: 5m}
        """
            .formatted(scheduler.getPort(), timeout));
  }

  @Test
  void whoWaitsIsAskedAboutUnderTheNewSettingsToo() throws Exception {
    Policy policy = new Policy();
    Server scheduler =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(policy)
            .build()
            .start();
    RawBackend backend =
        new RawBackend(
            "a",
            (connection, request) -> {
              if (request.text().equals(BODY)) {
                answers.acquire();
              }
              connection.respond(200, "", "{}");
            });
    Files.writeString(
        folder.resolve("endpoints.yaml"),
        "endpoints: [{name: a, address: 127.0.0.1, port: %d}]\n".formatted(backend.spec().port()));
    configure(scheduler, "9s");
    DataPlane picker =
        DataPlane.start(
            DataPlaneConfig.builder(
                    new DataPlaneConfig.Files(
                        folder.resolve("endpoints.yaml"), folder.resolve("config.yaml")))
                .gateway("127.0.0.1", 0)
                .loops(1)
                .build());
    HttpClient http = HttpClient.newHttpClient();
    try {
      picker.ready().get(20, TimeUnit.SECONDS);
      await("connected").until(() -> policy.streams.get() > 0 && policy.told.get());
      URI url =
          URI.create("http://127.0.0.1:" + picker.gatewayPort().orElseThrow() + "/v1/completions");
      HttpRequest request =
          HttpRequest.newBuilder(url)
              .header("content-type", "application/json")
              .POST(BodyPublishers.ofString(BODY))
              .build();
      List<CompletableFuture<HttpResponse<String>>> both =
          Stream.generate(() -> http.sendAsync(request, BodyHandlers.ofString())).limit(2).toList();
      await("asked about again").until(() -> policy.asked.get() > 4);

      int before = policy.streams.get();
      configure(scheduler, "8s");
      await("connected anew").until(() -> policy.streams.get() > before);
      policy.asked.set(0);
      await("asked about again under the new settings").until(() -> policy.asked.get() > 2);

      answers.release(2);
      for (CompletableFuture<HttpResponse<String>> one : both) {
        assertThat(one.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
      }
    } finally {
      answers.release(2); // whoever still waits is answered
      http.close();
      picker.close();
      backend.close();
      scheduler.shutdownNow().awaitTermination();
    }
  }

  /** Names the one endpoint for every request. */
  private static final class Policy extends SchedulerGrpc.SchedulerImplBase {
    final AtomicInteger streams = new AtomicInteger();
    final AtomicInteger asked = new AtomicInteger();
    final AtomicBoolean told = new AtomicBoolean();

    @Override
    public StreamObserver<PickerMessage> schedule(StreamObserver<SchedulerMessage> to) {
      return new StreamObserver<>() {
        @Override
        public void onNext(PickerMessage message) {
          SchedulerMessage.Builder answer = SchedulerMessage.newBuilder();
          if (message.hasHello()) {
            streams.incrementAndGet();
            answer.setHello(SchedulerHello.newBuilder().setVersion(1).setName("a test's"));
          }
          if (message.getEndpointsCount() > 0) {
            told.set(true); // so that it has been heard
          }
          message
              .getRequestsList()
              .forEach(
                  request -> {
                    asked.incrementAndGet();
                    answer.addDecisions(
                        Decision.newBuilder().setRequest(request.getId()).addEndpoints(1));
                  });
          if (answer.hasHello() || answer.getDecisionsCount() > 0) {
            to.onNext(answer.build());
          }
        }

        @Override
        public void onError(Throwable thrown) {
          // The picker has left.
        }

        @Override
        public void onCompleted() {
          to.onCompleted();
        }
      };
    }
  }
}
