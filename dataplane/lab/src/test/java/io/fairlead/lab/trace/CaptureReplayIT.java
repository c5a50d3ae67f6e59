package io.fairlead.lab.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.epp.DataPlane;
import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.capture.CaptureConfig;
import io.fairlead.epp.datalayer.MetricsScraper;
import io.fairlead.lab.workload.Arrival;
import io.fairlead.lab.workload.Traffic;
import io.fairlead.stub.profile.EngineProfiles;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A gateway under capture, with everything happening to it that may: replayed, it picks the same.
 */
final class CaptureReplayIT {

  private static final String MARKER = "Zanzibar-marker-7";

  @TempDir private Path temporary;

  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final List<ModelServer> stubs =
      Stream.of("one", "two", "three")
          .map(
              name ->
                  ModelServerConfig.builder(name, "a", "b")
                      .profile(EngineProfiles.shipped().named("h100-8b"))
                      .timeScale(0.02)
                      .promptTokensDetails(true)
                      .build())
          .map(config -> ModelServer.start(config, loops))
          .toList();
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();

  @AfterEach
  void stop() {
    clients.close();
    http.close();
    stubs.forEach(ModelServer::close);
    loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  @Test
  void everyPickComesOutTheSame() throws Exception {
    Path folder = Files.createDirectory(temporary.resolve("folder"));
    Path capture = temporary.resolve("capture");
    pool(folder, "a", "cost");
    stubs.forEach(stub -> endpoint(folder, stub, true));

    try (DataPlane plane = DataPlane.start(config(folder, CaptureConfig.to(capture)))) {
      plane.ready().get(20, TimeUnit.SECONDS);
      load(plane, 0, 60);
      pool(folder, "b", "weighted");
      await().until(() -> plane.report().generation() == 2);
      load(plane, 60, 60);
      endpoint(folder, stubs.get(1), false);
      await().until(() -> plane.report().endpoints().ready() == 2);
      load(plane, 120, 60);
      stubs.getFirst().faults().resetNext(1_000);
      endpoint(folder, stubs.get(1), true);
      await().until(() -> plane.report().endpoints().ready() == 3);
      load(plane, 180, 60);
      stubs.getFirst().faults().clear();
      // One that is still under way when everything ends.
      clients.execute(() -> ask(plane, 999));
      await().until(() -> plane.snapshot().join().stream().anyMatch(e -> e.state().inFlight() > 0));
    }

    PicksReport report = PicksReplay.run(capture, List.of());
    assertThat(report.incomplete()).isEmpty();
    assertThat(report.differences()).isEmpty();
    assertThat(report.decisions()).isGreaterThanOrEqualTo(241);
    assertThat(report.same()).isEqualTo(report.decisions());
    assertThat(report.exact()).isEqualTo(report.decisions());
    assertThat(report.agrees()).isTrue();

    CapturedRun run = CaptureReader.read(CaptureFiles.of(capture));
    assertThat(run.events().values())
        .hasAtLeastOneElementOfType(CaptureEvent.Scraped.class)
        .hasAtLeastOneElementOfType(CaptureEvent.Ticked.class)
        .hasAtLeastOneElementOfType(CaptureEvent.FirstByte.class)
        .hasAtLeastOneElementOfType(CaptureEvent.AttemptFailed.class);
    assertThat(run.events().values())
        .filteredOn(CaptureEvent.Configured.class::isInstance)
        .hasSizeGreaterThan(1);
    assertThat(run.events().values())
        .filteredOn(CaptureEvent.Ended.class::isInstance)
        .map(event -> ((CaptureEvent.Ended) event).outcome().code())
        .contains("completed", "disconnected");
    holdsNoText(capture);
    isAWorkload(capture);
    noticesAnotherPick(capture);
    provesWhatItCanOfACaptureCutShort(capture);
  }

  /** As after a kill in the middle of a line. */
  private static void provesWhatItCanOfACaptureCutShort(Path capture) throws IOException {
    Path requests = CaptureFiles.of(capture).requests().getLast();
    String text = Files.readString(requests);
    Files.writeString(requests, text.substring(0, text.length() * 2 / 3));

    PicksReport report = PicksReplay.run(capture, List.of());
    assertThat(report.incomplete()).singleElement().asString().contains("events are missing");
    assertThat(report.exact()).isBetween(1, report.decisions() - 1);
    assertThat(report.agrees()).isTrue();
  }

  /** What was typed, a key, or any name that is made of them. */
  private static void holdsNoText(Path capture) throws IOException {
    try (Stream<Path> files = Files.list(capture)) {
      for (Path file : files.toList()) {
        assertThat(Files.readString(file)).doesNotContain(MARKER).doesNotContain("Zanzibar");
      }
    }
  }

  private static void isAWorkload(Path capture) {
    TraceWorkload workload = TraceWorkload.read(capture);
    assertThat(workload.size()).isEqualTo(241);
    Traffic traffic = workload.start(1);
    long before = 0;
    for (Arrival next = traffic.next(); next != null; next = traffic.next()) {
      assertThat(next.atNanos()).isGreaterThanOrEqualTo(before);
      assertThat(next.request().blocks()).hasSizeGreaterThan(10);
      before = next.atNanos();
    }
  }

  /** Else the comparison would prove nothing. */
  private void noticesAnotherPick(Path capture) throws IOException {
    Path forged = Files.createDirectory(temporary.resolve("forged"));
    try (Stream<Path> files = Files.list(capture)) {
      for (Path file : files.toList()) {
        String text = Files.readString(file);
        Files.writeString(
            forged.resolve(String.valueOf(file.getFileName())),
            text.replaceFirst(
                "\"pick\":\\{\"endpoint\":\"[a-z]+\"", "\"pick\":{\"endpoint\":\"another\""));
      }
    }
    PicksReport report = PicksReplay.run(forged, List.of());
    assertThat(report.agrees()).isFalse();
    assertThat(report.differences()).singleElement().asString().contains("endpoint=another");
    assertThat(report.same()).isEqualTo(report.decisions() - 1);
  }

  private static DataPlaneConfig config(Path folder, CaptureConfig capture) {
    return DataPlaneConfig.builder(new DataPlaneConfig.Folder(folder))
        .gateway("127.0.0.1", 0)
        .scraping(MetricsScraper.Settings.DEFAULT.withInterval(Duration.ofMillis(50)))
        .drain(Duration.ZERO)
        .loops(2)
        .capture(capture)
        .build();
  }

  /** Requests at once, each seventh of whose clients goes away, and waits until all have ended. */
  private void load(DataPlane plane, int from, int count) throws Exception {
    List<Future<?>> asked = new ArrayList<>();
    for (int i = from; i < from + count; i++) {
      int number = i;
      asked.add(clients.submit(() -> ask(plane, number)));
    }
    for (Future<?> each : asked) {
      each.get(30, TimeUnit.SECONDS);
    }
    await()
        .until(
            () ->
                plane.snapshot().join().stream().allMatch(state -> state.state().inFlight() == 0));
  }

  private void ask(DataPlane plane, int number) {
    boolean leaves = number % 7 == 0 && number < 900;
    int tokens = number > 900 ? 100_000 : leaves ? 4_000 : 20;
    String body =
        """
        {"model":"chat","stream":true,"stream_options":{"include_usage":true},"max_tokens":%d,
         "messages":[{"role":"system","content":"%s"},{"role":"user","content":"%s"}]}
        """
            .formatted(
                tokens,
                (MARKER + " group " + number % 5 + ". ").repeat(30),
                (number + " asks " + MARKER + " again. ").repeat(number % 4 * 8 + 1));
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create(
                    "http://127.0.0.1:%d/v1/chat/completions"
                        .formatted(plane.gatewayPort().orElseThrow())))
            .header("content-type", "application/json")
            .header("authorization", "Bearer " + MARKER)
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    try {
      HttpResponse<InputStream> response =
          http.send(request, HttpResponse.BodyHandlers.ofInputStream());
      try (InputStream answer = response.body()) {
        if (leaves) {
          answer.read();
        } else {
          answer.readAllBytes();
        }
      }
    } catch (IOException e) {
      // A reset, or the end of the gateway: what became of it is in the capture.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void pool(Path folder, String target, String profile) {
    write(
        folder.resolve("pool.yaml"),
        """
        apiVersion: inference.networking.k8s.io/v1
        kind: InferencePool
        metadata: {name: pool, namespace: default}
        spec:
          selector: {matchLabels: {app: stub}}
          targetPorts: [{number: 8000}]
          endpointPickerRef: {name: pool-epp, port: {number: 9002}}
        ---
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferenceModel
        metadata: {name: chat, namespace: default}
        spec:
          modelName: chat
          criticality: Critical
          poolRef: {name: pool}
          targetModels: [{name: %s, weight: 1}]
        ---
        apiVersion: fairlead.io/v1alpha1
        kind: EndpointPicker
        metadata: {name: pool, namespace: default}
        spec:
          poolRef: {name: pool}
          scheduling: {schedulingProfiles: [{name: %s}]}
        """
            .formatted(target, profile));
  }

  private static void endpoint(Path folder, ModelServer stub, boolean ready) {
    write(
        folder.resolve("endpoint-" + stub.config().name() + ".yaml"),
        """
        apiVersion: discovery.k8s.io/v1
        kind: EndpointSlice
        metadata: {name: slice-%1$s, namespace: default}
        addressType: IPv4
        ports: [{name: http, port: %2$d}]
        endpoints:
          - addresses: ["%3$s"]
            conditions: {ready: %4$s}
            targetRef: {kind: Pod, name: %1$s, uid: uid-%1$s}
        """
            .formatted(
                stub.config().name(),
                stub.address().getPort(),
                stub.address().getAddress().getHostAddress(),
                ready));
  }

  /** As editors do: a new file takes the name over. */
  private static void write(Path file, String text) {
    try {
      Path next = Files.writeString(file.resolveSibling(file.getFileName() + ".tmp"), text);
      Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
