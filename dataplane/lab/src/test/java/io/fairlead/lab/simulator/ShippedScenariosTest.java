package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.lab.simulator.SimulationSpec.Settings;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the default policy makes of the scenarios that ship, on seeds that nothing was tuned on.
 * Requests are alike: a share of them is a share of the work.
 */
final class ShippedScenariosTest {

  private static final double SECONDS = 240;

  private static List<RunResult> run(String scenario, double rate, int pickers) {
    return LongStream.rangeClosed(41, 43)
        .mapToObj(
            seed ->
                Simulation.run(
                    new SimulationSpec(
                        new TestWorkload(rate, 20, 1_000, 250),
                        Policy.named("cost"),
                        PoolSpec.parse("8xh100-8b"),
                        seed,
                        Settings.builder(SECONDS, 0).pickers(pickers).build(),
                        Scenario.named(scenario).events(SECONDS))))
        .toList();
  }

  private static void nothingFails(List<RunResult> runs) {
    for (RunResult run : runs) {
      assertThat(run.completed()).as("seed %d", run.seed()).isEqualTo(run.arrived());
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {50, 150})
  void aSlowServerGetsNoMoreThanItCanDoWithin30SecondsAndItsShareAgainWithin60(double rate) {
    List<RunResult> runs = run("slow-server", rate, 1);
    FoundShare slow = FoundShare.of(runs).getFirst();
    FoundShare back = FoundShare.of(runs).getLast();

    nothingFails(runs);
    assertThat(slow.right().what()).isEqualTo("slow factor=3");
    assertThat(slow.right().share()).isCloseTo(1 / 22.0, within(1e-9));
    assertThat(slow.secondsUntilNoMore()).isLessThanOrEqualTo(30);
    assertThat(slow.since()).isLessThanOrEqualTo(slow.right().share() * 1.2);
    assertThat(back.right().share()).isEqualTo(0.125);
    assertThat(back.secondsUntilRight()).isLessThanOrEqualTo(60);
  }

  @Test
  void aNewServerHasItsFairShareWithin20SecondsThoughItsFirstRequestTakes30() {
    List<RunResult> runs = run("new-server", 100, 1);
    FoundShare there = FoundShare.of(runs).getFirst();

    nothingFails(runs);
    assertThat(there.right().share()).isCloseTo(1 / 9.0, within(1e-9));
    assertThat(there.secondsUntilRight()).isLessThanOrEqualTo(20);
    assertThat(there.since() / there.right().share()).isBetween(0.8, 1.2);
  }

  @Test
  void aServerThatIsSilentAtFirstHasItsFairShareSoonAfterIt() {
    List<RunResult> runs = run("cold-server", 100, 1);
    FoundShare warm = FoundShare.of(runs).getFirst();

    nothingFails(runs);
    assertThat(warm.right().from()).isEqualTo(90);
    assertThat(warm.secondsUntilRight()).isLessThanOrEqualTo(20);
    assertThat(warm.since() / warm.right().share()).isBetween(0.8, 1.2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"rolling-update", "scale", "caches-lost", "pickers-restart"})
  void nothingFailsWhereServersAndPickersComeAndGo(String scenario) {
    nothingFails(run(scenario, 50, 3));
  }
}
