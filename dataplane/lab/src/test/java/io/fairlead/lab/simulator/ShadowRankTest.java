package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.core.shadow.ShadowSnapshot;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.Workload;
import io.fairlead.lab.workload.Workloads;
import io.fairlead.lab.workload.Workloads.Options;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whether what a shadow says of a policy is what comes of running that policy. */
class ShadowRankTest {

  private static final List<String> POLICIES =
      List.of(
          "cost",
          "weighted",
          "sticky",
          "least-outstanding",
          "power-of-two",
          "round-robin",
          "random");

  private static final PoolSpec POOL = PoolSpec.parse("8xh100-8b");
  private static final Settings SETTINGS = Settings.of(60, 0);
  private static final long SEED = 7;

  /** Means that lie closer than that may change places. */
  private static final double CLOSE = 1.25;

  @ParameterizedTest
  @CsvSource({"chat,weighted", "chat,random", "rag,weighted", "rag,random", "b2b,weighted"})
  void policiesRankAsTheyDoWhenTheyAreRun(String name, String real) {
    Workload workload = Workloads.named(name, Options.times(1));
    Map<String, Double> run = new TreeMap<>();
    Map<String, Double> hits = new TreeMap<>();
    for (String policy : POLICIES) {
      RunResult result = Simulation.run(spec(workload, policy));
      run.put(policy, result.ttftMs().mean());
      hits.put(policy, (double) result.cachedTokens() / result.promptTokens());
    }
    ShadowedRun shadowed =
        Simulation.run(spec(workload, real), POLICIES.stream().map(Policy::named).toList());
    Map<String, Double> told = new TreeMap<>();
    for (String policy : POLICIES) {
      ShadowSnapshot shadow = Objects.requireNonNull(shadowed.shadows().get(policy));
      assertThat(shadow.notPlaced()).isZero();
      told.put(policy, shadow.own().firstTokenSeconds() * 1_000 / shadow.requests());
      assertThat((double) shadow.own().cachedTokens() / shadow.promptTokens())
          .as("hit ratio of %s beside %s", policy, real)
          .isCloseTo(Objects.requireNonNull(hits.get(policy)), within(0.06));
    }
    for (String one : POLICIES) {
      for (String other : POLICIES) {
        if (value(run, one) * CLOSE < value(run, other)) {
          assertThat(value(told, one))
              .as("%s before %s beside %s: run %s, told %s", one, other, real, run, told)
              .isLessThan(value(told, other));
        }
      }
    }
    ShadowSnapshot itself = Objects.requireNonNull(shadowed.shadows().get(real));
    if (itself.agreed() == itself.requests()) {
      assertThat(itself.own()).as("the same choices").isEqualTo(itself.real());
    }
  }

  private static double value(Map<String, Double> of, String policy) {
    return Objects.requireNonNull(of.get(policy));
  }

  private static SimulationSpec spec(Workload workload, String policy) {
    return new SimulationSpec(workload, Policy.named(policy), POOL, SEED, SETTINGS);
  }
}
