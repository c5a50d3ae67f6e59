package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.Workloads;
import io.fairlead.lab.workload.Workloads.Options;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

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
          recorder.completed(look, 100, 50);
        }
      }
      if (look > 50 && look % 10 == 1) {
        for (int i = 0; i < 10; i++) {
          recorder.completed(look, 100, 50);
        }
      }
      recorder.look();
    }

    Course course = recorder.result(1_000);
    assertThat(course.meanInSecondHalf()).isGreaterThan(1.2 * course.meanInFirstHalf());
    assertThat(course.diverged()).isFalse();
    assertThat(course.lastHitRate()).isEqualTo(0.5);
    assertThat(course.hitRates()).hasSize(10).containsOnly(0.5);
  }

  @Test
  void countsLatencyByFlow() {
    RunResult run =
        Simulation.run(
            new SimulationSpec(
                Workloads.named("priority", Options.times(0.3)),
                Policy.named("cost"),
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
            Policy.named("cost"),
            PoolSpec.parse("1xh100-8b"),
            1,
            Settings.of(20, 8)));
  }
}
