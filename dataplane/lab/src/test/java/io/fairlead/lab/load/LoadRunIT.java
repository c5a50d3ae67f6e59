package io.fairlead.lab.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.lab.workload.Arrival;
import io.fairlead.lab.workload.MixedWorkload;
import io.fairlead.lab.workload.MixedWorkload.ModelShare;
import io.fairlead.lab.workload.MixedWorkload.Spec;
import io.fairlead.lab.workload.RequestShape;
import io.fairlead.lab.workload.Traffic;
import io.fairlead.stub.profile.EngineProfiles;
import io.fairlead.stub.server.Fault;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class LoadRunIT {

  private static final Spec SPEC = new Spec(List.of(new ModelShare("m", 1)), 500, 4, 64, 32, 8);
  private static final Duration LONG = Duration.ofDays(1);
  private static final LoadSettings SETTINGS = LoadSettings.mixed(Duration.ofSeconds(30));

  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

  @AfterEach
  void stopLoops() {
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void countsEveryAnswerOnce() throws InterruptedException {
    LoadReport report = run("m", new MixedWorkload(SPEC).start(1), 100, SETTINGS);

    assertThat(report)
        .usingRecursiveComparison()
        .ignoringFields("ttft", "tpot", "endToEnd", "tokens")
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
                report.tpot(),
                report.endToEnd(),
                report.tokens()));
    assertThat(report.ttft().p50()).isPositive();
    assertThat(report.endToEnd().p50()).isGreaterThanOrEqualTo(report.ttft().p50());
    assertThat(report.tokens().output()).isBetween(400L, 2_000L);
  }

  /** What was said to be shared is in the server's cache, and nothing else. */
  @Test
  void sharesWhatTheBlocksShare() throws InterruptedException {
    RequestShape first = new RequestShape("m", "", new long[] {1, 2, 3, 4}, 70, 5);
    RequestShape second = new RequestShape("m", "", new long[] {1, 2, 3, 9}, 70, 5);
    RequestShape third = new RequestShape("m", "", new long[0], 70, 5);
    Script script = new Script();
    script.first.add(new Arrival(0, first));
    script.then.add(second);
    script.then.add(third);
    LoadSettings streamed =
        new LoadSettings(Duration.ofSeconds(30), 1, 1, true, model -> model + "-v1");

    LoadReport report = run("m-v1", script, 10, streamed);

    assertThat(report.flawless()).isTrue();
    assertThat(report.sent()).isEqualTo(3);
    assertThat(report.models()).containsOnlyKeys("m-v1");
    assertThat(report.tokens().output()).isEqualTo(15);
    // The template before the text shifts blocks by a few bytes, but takes no whole one away.
    assertThat(report.tokens().cached()).isEqualTo(48);
    assertThat(report.tokens().prompt()).isBetween(210L, 225L);
    assertThat(script.ended).containsExactly(true, true, true);
  }

  @Test
  void endsAtItsLimits() throws InterruptedException {
    MixedWorkload workload = new MixedWorkload(SPEC);
    assertThat(run("m", workload.start(1), 7, SETTINGS).sent()).isEqualTo(7);

    ModelServerConfig config =
        ModelServerConfig.builder("stub-a", "m").instant().promptTokensDetails(true).build();
    LoadSettings fast = new LoadSettings(Duration.ofSeconds(30), 100, 0.5, false, model -> model);
    try (ModelServer server = ModelServer.start(config, loops);
        var run = new LoadRun(URI.create(server.url()), fast)) {
      run.send(workload.start(1), Long.MAX_VALUE, Duration.ofSeconds(1));
      assertThat(run.report().sent()).isBetween(400L, 600L);
    }
  }

  @Test
  void tellsTheTrafficWhatWasNotServed() throws InterruptedException {
    Script script = new Script();
    script.first.add(new Arrival(0, new RequestShape("unknown", "", new long[0], 5, 5)));

    LoadReport report = run("m", script, 10, SETTINGS);

    assertThat(report.failures()).isEqualTo(Map.of("404", 1L));
    assertThat(script.ended).containsExactly(false);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 1})
  void anErrorWithStatus200IsNoSuccess(double streamShare) throws InterruptedException {
    LoadSettings settings =
        new LoadSettings(Duration.ofSeconds(30), 1, streamShare, false, model -> model);
    ModelServerConfig config = ModelServerConfig.builder("stub-a", "m").instant().build();
    try (ModelServer server = ModelServer.start(config, loops)) {
      int first = streamShare > 0 ? 5 : 1;
      for (int form = first; form < first + 4; form++) {
        server.faults().begin(Map.of(Fault.ERROR_SHARE, 1, Fault.ERROR_INSIDE, form));
        try (var run = new LoadRun(URI.create(server.url()), settings)) {
          run.send(new MixedWorkload(SPEC).start(1), 2, LONG);

          assertThat(run.report().failures())
              .as("form " + form)
              .isEqualTo(Map.of("error inside", 2L));
          assertThat(run.report().ttft().p99()).isZero();
        }
      }
    }
  }

  @Test
  void namesFailuresByException() throws InterruptedException {
    URI nobody = URI.create("http://127.0.0.1:1");
    try (var run = new LoadRun(nobody, SETTINGS)) {
      run.send(new MixedWorkload(SPEC).start(1), 3, LONG);

      assertThat(run.report().failures()).isEqualTo(Map.of("ConnectException", 3L));
    }
  }

  /** A client that waits for ever would keep the run from ending. */
  @Test
  void givesUpAnAnswerThatStopsInTheMiddle() throws InterruptedException {
    ModelServerConfig config =
        ModelServerConfig.builder("stub-a", "m")
            .profile(EngineProfiles.shipped().named("l4-8b"))
            .build();
    // Longer than a first byte takes on a machine that is busy, and much shorter than the answer.
    LoadSettings streamed = new LoadSettings(Duration.ofSeconds(5), 1, 1, false, model -> model);
    Script script = new Script();
    script.first.add(new Arrival(0, new RequestShape("m", "", new long[0], 4, 30_000)));
    List<Answered> seen = new ArrayList<>();
    try (ModelServer server = ModelServer.start(config, loops);
        var run = new LoadRun(URI.create(server.url()), streamed, seen::add)) {
      run.send(script, 1, LONG);

      assertThat(run.report().failures()).isEqualTo(Map.of("incomplete", 1L));
      assertThat(seen).hasSize(1);
      assertThat(seen.getFirst().outcome()).isEqualTo(Answered.Outcome.FAILED);
      assertThat(seen.getFirst().firstByte()).isPositive();
      await().until(() -> server.stats().inFlight() == 0);
    }
  }

  @Test
  void countsTimeFromWhenARequestWasDue() throws InterruptedException {
    Script late = new Script();
    late.first.add(
        new Arrival(
            Duration.ofSeconds(-5).toNanos(), new RequestShape("m", "", new long[0], 4, 4)));

    assertThat(run("m", late, 1, SETTINGS).ttft().p50()).isGreaterThan(5_000);
  }

  private LoadReport run(String served, Traffic traffic, long limit, LoadSettings settings)
      throws InterruptedException {
    ModelServerConfig config =
        ModelServerConfig.builder("stub-a", served).instant().promptTokensDetails(true).build();
    try (ModelServer server = ModelServer.start(config, loops);
        var run = new LoadRun(URI.create(server.url()), settings)) {
      run.send(traffic, limit, LONG);
      return run.report();
    }
  }

  /** Some requests, and then one after the other has ended. */
  private static final class Script implements Traffic {

    private final Deque<Arrival> first = new ArrayDeque<>();
    private final Deque<RequestShape> then = new ArrayDeque<>();
    private final List<Boolean> ended = new ArrayList<>();

    @Override
    public @Nullable Arrival next() {
      return first.poll();
    }

    @Override
    public void ended(long now, RequestShape request, boolean served, Consumer<Arrival> follow) {
      ended.add(served);
      RequestShape next = then.poll();
      if (next != null) {
        follow.accept(new Arrival(now, next));
      }
    }
  }
}
