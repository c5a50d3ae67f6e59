package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.RequestShape;
import io.fairlead.lab.workload.Workloads;
import io.fairlead.lab.workload.Workloads.Options;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CourseTest {

  @Test
  void aPoolThatIsSentMoreThanItServesDiverges() {
    RunResult fits = run(0.05);
    RunResult tooMuch = run(0.6);

    assertThat(fits.course().diverged()).isFalse();
    assertThat(fits.course().sustainedPerSecond())
        .isCloseTo(fits.course().arrived() / fits.course().windowSeconds(), Offset.offset(2.0));
    assertThat(tooMuch.course().diverged()).isTrue();
    // What it can do is not what came.
    assertThat(tooMuch.course().sustainedPerSecond())
        .isLessThan(0.8 * tooMuch.course().arrived() / tooMuch.course().windowSeconds());
    assertThat(fits.goodPerSecond()).isGreaterThan(0.9 * fits.course().sustainedPerSecond());
  }

  @Test
  void aBurstIsNoDivergence() {
    var recorder = new CourseRecorder(0, 10);
    for (int look = 0; look < 100; look++) {
      for (int i = 0; i < 10; i++) {
        recorder.arrived();
        if (look < 50 || look % 10 != 0) {
          recorder.completed(100, 50);
        }
      }
      if (look > 50 && look % 10 == 1) {
        for (int i = 0; i < 10; i++) {
          recorder.completed(100, 50);
        }
      }
      recorder.look();
    }

    Course course = recorder.result(1_000);
    assertThat(course.diverged()).isFalse();
    assertThat(course.lastHitRate()).isEqualTo(0.5);
  }

  /**
   * A queue before so many servers, with arrivals and services by chance: below its capacity it
   * doesn't diverge and above it does, be answers short or as long as a good part of the window.
   */
  @ParameterizedTest
  @CsvSource({"40, 1", "400, 10", "2400, 40"})
  void queuesDivergeAboveTheirCapacityAndNotBelow(int servers, double serviceSeconds) {
    int seeds = 200;
    long falseAlarms =
        LongStream.range(0, seeds)
            .filter(seed -> queue(seed, servers, serviceSeconds, 0.9).diverged())
            .count();
    long misses =
        LongStream.range(0, seeds)
            .filter(seed -> !queue(seed, servers, serviceSeconds, 1.1).diverged())
            .count();

    assertThat(falseAlarms).as("of %d stable queues", seeds).isLessThanOrEqualTo(seeds / 50);
    assertThat(misses).as("of %d unstable queues", seeds).isLessThanOrEqualTo(seeds / 20);
  }

  /** 260 s, of which 60 s are warm-up, looked at each second. */
  private static Course queue(long seed, int servers, double serviceSeconds, double load) {
    var random = new SplittableRandom(seed);
    var recorder = new CourseRecorder(60e9, 1_000_000_000);
    double arrivals = load * servers / serviceSeconds;
    int there = 0;
    double looked = 0;
    for (double now = 0; ; ) {
      double ends = Math.min(there, servers) / serviceSeconds;
      now -= Math.log(1 - random.nextDouble()) / (arrivals + ends);
      for (; looked <= Math.min(now, 260); looked++) {
        recorder.look();
      }
      if (now > 260) {
        return recorder.result(260_000_000_000L);
      }
      if (random.nextDouble() * (arrivals + ends) < arrivals) {
        recorder.arrived();
        there++;
      } else {
        recorder.completed(100, 0);
        there--;
      }
    }
  }

  @Test
  @SuppressWarnings("NullAway") // the recorder asks no picker
  void aFlowThatIsNeverServedIsThereWithNothing() {
    var spec =
        new SimulationSpec(
            Workloads.named("priority", Options.times(0.3)),
            Policy.named("cost-no-queue"),
            PoolSpec.parse("3xh100-8b"),
            1,
            Settings.of(8, 2));
    var recorder = new RunRecorder(spec);
    for (String tenant : List.of("served", "never")) {
      var shape = new RequestShape("m", tenant, new long[10], 160, 10);
      var flight = new Flight(shape, 3_000_000_000L, null, true, shape.blocks());
      recorder.arrived(flight);
      if (tenant.equals("served")) {
        flight.firstTokenAt = 3_100_000_000L;
        recorder.firstToken(flight);
        recorder.finished(4_000_000_000L, flight);
      }
    }

    assertThat(recorder.flows())
        .extracting(Flow::name, Flow::completed)
        .containsExactly(tuple("m never", 0L), tuple("m served", 1L));
  }

  @Test
  void countsLatencyByFlow() {
    RunResult run =
        Simulation.run(
            new SimulationSpec(
                Workloads.named("priority", Options.times(0.3)),
                Policy.named("cost-no-queue"),
                PoolSpec.parse("3xh100-8b"),
                1,
                Settings.of(8, 2)));

    assertThat(run.flows()).hasSize(12);
    assertThat(run.flows().stream().mapToLong(Flow::completed).sum()).isEqualTo(run.completed());
    assertThat(run.slowestFlowMs())
        .isEqualTo(run.flows().stream().mapToDouble(Flow::meanMs).max().orElseThrow());
    assertThat(run.serverJain()).isBetween(0.9, 1.0);
  }

  private static RunResult run(double load) {
    return Simulation.run(
        new SimulationSpec(
            Workloads.named("sharegpt-low-hit", Options.times(load)),
            Policy.named("cost-no-queue"),
            PoolSpec.parse("1xh100-8b"),
            1,
            Settings.of(20, 8)));
  }
}
