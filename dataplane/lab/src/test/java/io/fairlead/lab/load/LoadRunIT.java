package io.fairlead.lab.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.workload.MixedWorkload;
import io.fairlead.lab.workload.MixedWorkload.ModelShare;
import io.fairlead.lab.workload.MixedWorkload.Spec;
import io.fairlead.lab.workload.WorkloadRequest;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class LoadRunIT {

  private static final Spec SPEC =
      new Spec(List.of(new ModelShare("m", 1)), 500, 4, 64, 32, 8, 0.5);

  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

  @AfterEach
  void stopLoops() {
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void countsEveryAnswerOnce() throws InterruptedException {
    LoadReport report = run("m");

    assertThat(report)
        .usingRecursiveComparison()
        .ignoringFields("ttft", "endToEnd")
        .isEqualTo(
            new LoadReport(
                100,
                100,
                0,
                0,
                Map.of(),
                Map.of("stub-a", 100L),
                Map.of("m", 100L),
                report.ttft(),
                report.endToEnd()));
    assertThat(report.ttft().p50()).isPositive();
    assertThat(report.endToEnd().p50()).isGreaterThanOrEqualTo(report.ttft().p50());
  }

  @Test
  void namesFailuresByStatus() throws InterruptedException {
    LoadReport report = run("another");

    assertThat(report.failed()).isEqualTo(100);
    assertThat(report.failures()).isEqualTo(Map.of("404", 100L));
  }

  @Test
  void namesFailuresByException() throws InterruptedException {
    URI nobody = URI.create("http://127.0.0.1:1");
    try (var run = new LoadRun(nobody, Duration.ofSeconds(10))) {
      run.send(new MixedWorkload(SPEC).requests(1, 3));

      assertThat(run.report().failures()).isEqualTo(Map.of("ConnectException", 3L));
    }
  }

  @Test
  void countsTimeFromWhenARequestWasDue() throws InterruptedException {
    ModelServerConfig config = ModelServerConfig.builder("stub-a", "m").instant().build();
    var late = new WorkloadRequest(Duration.ofSeconds(-5).toNanos(), "m", "s", "p", 4, false);
    try (ModelServer server = ModelServer.start(config, loops);
        var run = new LoadRun(URI.create(server.url()), Duration.ofSeconds(30))) {
      run.send(List.of(late));

      assertThat(run.report().ttft().p50()).isGreaterThan(5_000);
    }
  }

  private LoadReport run(String served) throws InterruptedException {
    ModelServerConfig config = ModelServerConfig.builder("stub-a", served).instant().build();
    try (ModelServer server = ModelServer.start(config, loops);
        var run = new LoadRun(URI.create(server.url()), Duration.ofSeconds(30))) {
      run.send(new MixedWorkload(SPEC).requests(1, 100));
      return run.report();
    }
  }
}
