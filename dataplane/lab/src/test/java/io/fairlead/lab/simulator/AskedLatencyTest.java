package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.LatencyConfig;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.ServedModel;
import io.fairlead.lab.workload.Traffic;
import io.fairlead.lab.workload.Workload;
import io.fairlead.lab.workload.Workloads;
import io.fairlead.lab.workload.Workloads.Options;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Models of a workload may ask for a latency of their own. */
class AskedLatencyTest {

  private static final Workload QUIET = new TestWorkload(5, 4, 1_600, 20);

  /** The same requests, asking for that. */
  private record Asking(Criticality criticality, LatencyConfig latency) implements Workload {

    @Override
    public String name() {
      return "asking";
    }

    @Override
    public List<ServedModel> models() {
      return List.of(new ServedModel("m", criticality, false, latency));
    }

    @Override
    public Traffic start(long seed) {
      return QUIET.start(seed);
    }
  }

  private static RunResult run(Workload workload) {
    return Simulation.run(
        new SimulationSpec(
            workload, Policy.named("cost"), PoolSpec.parse("3xh100-8b"), 7, Settings.of(30, 0)));
  }

  private static LatencyConfig firstToken(long millis) {
    return new LatencyConfig(Duration.ofMillis(millis), null);
  }

  @Test
  void whatKeepsItIsGood() {
    RunResult hasty = run(new Asking(Criticality.STANDARD, firstToken(2)));
    assertThat(hasty.completed()).isEqualTo(hasty.arrived()).isPositive();
    assertThat(hasty.goodput()).isZero();
    assertThat(run(new Asking(Criticality.STANDARD, firstToken(900))).goodput()).isEqualTo(1);
    LatencyConfig tooFast = new LatencyConfig(null, Duration.ofMillis(1));
    assertThat(run(new Asking(Criticality.STANDARD, tooFast)).goodput()).isZero();
  }

  /** Nothing depends on objectives that all can keep, or that nobody has. */
  @Test
  void whatIsKeptAnyhowChangesNothing() {
    assertThat(run(new Asking(Criticality.SHEDDABLE, firstToken(60_000))).endToEndMs())
        .isEqualTo(run(new Asking(Criticality.SHEDDABLE, LatencyConfig.UNSET)).endToEndMs());
  }

  @Test
  void theShippedWorkloadKeepsMostOfIt() {
    Workload asked = Workloads.named("asked-slo", Options.times(0.5));
    RunResult result =
        Simulation.run(
            new SimulationSpec(
                asked, Policy.named("cost"), PoolSpec.parse("3xh100-8b"), 7, Settings.of(40, 10)));
    assertThat(result.goodput()).isGreaterThan(0.95);
  }
}
