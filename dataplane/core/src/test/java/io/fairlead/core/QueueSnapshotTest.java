package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.core.QueueSnapshot.Band;
import io.fairlead.core.flow.WaitEnd;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is told of requests that wait for an endpoint with room for one. */
class QueueSnapshotTest implements RequestListener {

  private static final long SECOND = 1_000_000_000;

  private final PoolCore core = new PoolCore();
  private long sent;
  private long now;

  @Override
  public void send(long request, Route route) {
    sent = request;
  }

  @Override
  public void pass(long request) {}

  @Override
  public void reject(long request, Rejection rejection) {}

  private void start(long mostRequests) {
    SchedulerConfig scheduler =
        new SchedulerConfig(
            List.of(new PluginConfig("room", "concurrency-detector", Map.of("maxConcurrency", 1L))),
            List.of(),
            "room",
            Map.of("flowControl", true),
            new FlowControlConfig(
                null,
                mostRequests,
                Duration.ofSeconds(10),
                null,
                null,
                null,
                null,
                null,
                null,
                List.of()),
            null,
            List.of());
    core.configure(
        now,
        new ConfigCompiler(List.of())
            .compile(
                Pool.config(
                    scheduler,
                    Pool.model("high", Criticality.CRITICAL),
                    Pool.model("middle", Criticality.STANDARD),
                    Pool.model("low", Criticality.SHEDDABLE))));
    core.endpoints(now, List.of(Pool.endpoint("a")));
  }

  private long arrive(String model) {
    return core.arrive(now, Pool.request(model, 1, 1, 2, 3), this);
  }

  private Band band(long priority) {
    return core.queues(now).bands().stream()
        .filter(band -> band.priority() == priority)
        .findFirst()
        .orElseThrow();
  }

  private long count(long priority, WaitEnd how) {
    return Arrays.stream(band(priority).ended().buckets(how)).sum();
  }

  @Test
  void tellsOfEachBandWhatWaits() {
    start(10);
    assertThat(core.queues(now).bands()).isEmpty();
    assertThat(core.queues(now).saturation()).isZero();
    arrive("middle");
    assertThat(core.queues(now).saturation()).isEqualTo(1);
    arrive("middle");
    arrive("low");
    arrive("low");

    QueueSnapshot queues = core.queues(now);
    assertThat(queues.queueing()).isTrue();
    assertThat(queues.waiting()).isEqualTo(3);
    assertThat(queues.bands()).map(Band::priority).containsExactly(0L, -1L);
    assertThat(band(-1).waiting()).isEqualTo(2);
    assertThat(band(-1).bytes()).isEqualTo(2 * band(0).bytes()).isPositive();
    assertThat(band(-1).tokens()).isCloseTo(2 * band(0).tokens(), within(1e-6));
    assertThat(band(-1).serverSeconds())
        .as("before any request has ended")
        .isCloseTo(band(-1).tokens() / ServerPace.ASSUMED, within(1e-9));
  }

  @Test
  void tellsHowEachWaitEndedAndHowLongItWas() {
    start(2);
    long running = arrive("middle");
    long gone = arrive("middle");
    arrive("low");
    arrive("high");
    assertThat(count(-1, WaitEnd.EVICTED)).isOne();
    arrive("low");
    assertThat(count(-1, WaitEnd.QUEUE_FULL)).isOne();
    now += SECOND;
    core.ended(now, gone, Outcome.DISCONNECTED, Usage.UNKNOWN);
    assertThat(count(0, WaitEnd.CANCELLED)).isOne();
    assertThat(band(0).ended().nanos(WaitEnd.CANCELLED)).isEqualTo(SECOND);
    arrive("middle");
    core.ended(now, running, Outcome.COMPLETED, new Usage(48, 10, 0));
    assertThat(count(1, WaitEnd.DISPATCHED)).isOne();
    assertThat(band(1).ended().nanos(WaitEnd.DISPATCHED)).isEqualTo(SECOND);
    now += 11 * SECOND;
    core.tick(now);
    assertThat(count(0, WaitEnd.TIMED_OUT)).isOne();
    assertThat(core.queues(now).waiting()).isZero();
    assertThat(band(0).tokens()).as("nothing is left").isZero();
    core.ended(now, sent, Outcome.COMPLETED, Usage.UNKNOWN);
    assertThat(count(0, WaitEnd.DISPATCHED)).as("who didn't wait is not counted").isZero();
  }

  @Test
  void learnsHowMuchAServerDoesInASecond() {
    start(100);
    core.tick(now);
    arrive("middle");
    arrive("middle");
    // Each second one of 500 tokens ends.
    for (int second = 0; second < 300; second++) {
      arrive("middle");
      for (int tick = 0; tick < 10; tick++) {
        now += SECOND / 10;
        core.tick(now);
      }
      core.ended(now, sent, Outcome.COMPLETED, new Usage(400, 100, 0));
    }
    Band band = band(0);
    assertThat(band.waiting()).isEqualTo(1);
    assertThat(band.tokens() / band.serverSeconds()).isCloseTo(500, within(10.0));
  }

  /** A body of 40 KB may name 700 images, and no server takes as many. */
  @Test
  void whatWaitsCountsAtMostWhatPromptsReallyWereThatEndedOfLate() {
    start(100);
    for (int i = 0; i < 1_000; i++) {
      arrive("middle");
      int prompt = i % 200 == 0 ? 100_000 : 300 + i % 100;
      core.ended(now, sent, Outcome.COMPLETED, new Usage(prompt, 100, 0));
    }
    arrive("middle");
    arrive("low");
    assertThat(band(-1).tokens()).as("as it says").isBetween(48.0, 300.0);
    PromptSize images = new PromptSize(4_000, 500_000);
    for (int i = 0; i < 20; i++) {
      core.arrive(now, new RequestFacts("middle", i, new long[0], images, -1, 40_000), this);
    }
    assertThat(band(0).waiting()).isEqualTo(20);
    assertThat(band(0).tokens() / 20).as("of each").isBetween(399.0, 399 * 1.25 + 100);
  }
}
