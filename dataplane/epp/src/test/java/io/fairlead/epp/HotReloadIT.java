package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.crds.report.PickerReport;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Edits of a folder while requests go through the gateway: no request is lost. */
@ExtendWith(NoLeaks.class)
class HotReloadIT {

  /**
   * What the product promises for an edit to take effect. All take the same way, and a machine that
   * is busy makes any of them take longer: one of three shows it.
   */
  private static final Duration PROMISED = Duration.ofSeconds(1);

  /** So lopsided that a run of a few hundred requests never sees the other target. */
  private static final String MOSTLY_A = "{name: a, weight: 1000000}, {name: b, weight: 1}";

  private static final String MOSTLY_B = "{name: a, weight: 1}, {name: b, weight: 1000000}";

  @TempDir Path folder;

  private final MultiThreadIoEventLoopGroup stubLoops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final List<ModelServer> stubs =
      Stream.of("one", "two", "three")
          .map(
              name ->
                  ModelServerConfig.builder(name, "a", "b")
                      .instant()
                      .promptTokensDetails(true)
                      .build())
          .map(config -> ModelServer.start(config, stubLoops))
          .toList();

  @AfterEach
  void stopStubs() {
    stubs.forEach(ModelServer::close);
    stubLoops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  @Test
  void editsTakeEffectUnderLoadWithoutAFailedRequest() throws Exception {
    Resources resources = new Resources(folder).pool().model("Critical", MOSTLY_A);
    stubs.forEach(stub -> resources.endpoint(stub.config().name(), stub.address(), true));
    DataPlaneConfig config =
        DataPlaneConfig.builder(new DataPlaneConfig.Folder(folder))
            .gateway("127.0.0.1", 0)
            .loops(2)
            .build();
    try (DataPlane dataPlane = DataPlane.start(config)) {
      dataPlane.ready().get(20, TimeUnit.SECONDS);
      try (Traffic traffic = new Traffic(dataPlane.gatewayPort().orElseThrow(), 4)) {
        assertThat(traffic.next(60))
            .allMatch(answer -> answer.ofModel("a"))
            .extracting(Traffic.Answer::endpoint)
            .contains("one", "two", "three");

        List<Duration> took = new ArrayList<>();
        resources.model("Critical", MOSTLY_B);
        took.add(time(() -> dataPlane.report().generation() == 2));
        assertThat(traffic.next(60)).allMatch(answer -> answer.ofModel("b"));

        resources.endpoint("three", stubs.get(2).address(), false);
        took.add(time(() -> dataPlane.report().endpoints().ready() == 2));
        assertThat(dataPlane.report().endpoints().matching()).isEqualTo(3);
        assertThat(traffic.next(60))
            .extracting(Traffic.Answer::endpoint)
            .contains("one", "two")
            .doesNotContain("three");

        resources.endpoint("three", stubs.get(2).address(), true);
        took.add(time(() -> dataPlane.report().endpoints().ready() == 3));
        // Whoever is new gets requests once its metrics have been read.
        await()
            .untilAsserted(
                () ->
                    assertThat(traffic.next(60))
                        .extracting(Traffic.Answer::endpoint)
                        .contains("three"));

        assertThat(traffic.failed()).isEmpty();
        assertThat(Collections.min(took)).isLessThan(PROMISED);
      }
    }
  }

  @Test
  void aBrokenEditIsRefusedAndTouchesNoRequest() throws Exception {
    Resources resources = new Resources(folder).pool().model("Critical", MOSTLY_A);
    stubs.forEach(stub -> resources.endpoint(stub.config().name(), stub.address(), true));
    DataPlaneConfig config =
        DataPlaneConfig.builder(new DataPlaneConfig.Folder(folder))
            .gateway("127.0.0.1", 0)
            .loops(2)
            .build();
    try (DataPlane dataPlane = DataPlane.start(config)) {
      dataPlane.ready().get(20, TimeUnit.SECONDS);
      try (Traffic traffic = new Traffic(dataPlane.gatewayPort().orElseThrow(), 4)) {
        traffic.next(20);
        PickerReport good = dataPlane.report();

        List<Duration> took = new ArrayList<>();
        resources.model("Urgent", MOSTLY_B);
        took.add(time(() -> dataPlane.report().refused() != null));
        assertThat(Objects.requireNonNull(dataPlane.report().refused()).message())
            .contains(folder.resolve("model.yaml").toString())
            .contains("spec.criticality")
            .contains("Urgent")
            .contains("Standard");
        assertThat(dataPlane.report().configHash()).isEqualTo(good.configHash());
        assertThat(traffic.next(60)).allMatch(answer -> answer.ofModel("a"));

        resources.write("model.yaml", "not: [yaml");
        took.add(
            time(
                () -> {
                  String why = Objects.requireNonNull(dataPlane.report().refused()).message();
                  return why.contains("model.yaml:") && !why.contains("spec.criticality");
                }));
        assertThat(traffic.next(60)).allMatch(answer -> answer.ofModel("a"));

        resources.model("Critical", MOSTLY_B);
        took.add(time(() -> dataPlane.report().refused() == null));
        assertThat(traffic.next(60)).allMatch(answer -> answer.ofModel("b"));

        assertThat(traffic.failed()).isEmpty();
        assertThat(Collections.min(took)).isLessThan(PROMISED);
      }
    }
  }

  /** How long it takes from now until that is so. */
  private static Duration time(Callable<Boolean> seen) {
    long begun = System.nanoTime();
    await().until(seen);
    return Duration.ofNanos(System.nanoTime() - begun);
  }
}
