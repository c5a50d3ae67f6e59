package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.simulator.ServerEvent.Kind;
import io.fairlead.lab.simulator.SimulationSpec.Client;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What clients may notice of faults, held in virtual time with the shipped policy, seed by seed.
 */
final class HealthInSimulationTest {

  private static final double AT = 10;
  private static final double FOR = 30;
  private static final double WELL = AT + FOR;
  private static final long[] SEEDS = {1, 2, 3, 4};

  private static RunResult run(long seed, String pool, Client client, List<ScenarioEvent> faults) {
    return Simulation.run(
        new SimulationSpec(
            new TestWorkload(50, 20, 500, 30),
            Policy.named("cost"),
            PoolSpec.parse(pool),
            seed,
            Settings.builder(60, 0).scrapeMillis(200).client(client).build(),
            faults));
  }

  @ParameterizedTest
  @EnumSource(
      value = Kind.class,
      names = {"FAIL_FAST", "FAIL_LATE", "DRAIN", "SLOW", "METRICS_GONE", "UNHEALTHY"})
  void aGatewaysClientsNoticeNothingOfOneThatFails(Kind kind) {
    for (long seed : SEEDS) {
      RunResult result = run(seed, "8xh100-8b", Client.GATEWAY, List.of(kind.of(0, AT, FOR)));

      assertThat(result.failed()).as("seed %d", seed).isZero();
      assertThat(result.rejected()).as("seed %d", seed).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void aProxysClientsNoticeLittleOfOneThatFailsFast(long seed) {
    RunResult result =
        run(seed, "8xh100-8b", Client.EXT_PROC, List.of(Kind.FAIL_FAST.of(0, AT, FOR)));
    List<Double> arrived = result.disruption().failures().lines().get(0).values();
    List<Double> failed = result.disruption().failures().lines().get(1).values();

    assertThat(failed.get(1) / arrived.get(1)).as("first 10 s").isLessThanOrEqualTo(0.01);
    double later = failed.get(2) + failed.get(3);
    assertThat(later / (arrived.get(2) + arrived.get(3))).as("then").isLessThanOrEqualTo(0.001);
    assertThat(sent(result, 0, WELL, WELL + 10)).as("used again").isPositive();
  }

  @ParameterizedTest
  @EnumSource(
      value = Kind.class,
      names = {"FREEZE", "FREEZE_LIVE", "DRAIN", "REFUSE", "SWALLOW"})
  void nothingIsSentToADeadOneAfterTwoSecondsAndItIsUsedAgain(Kind kind) {
    for (long seed : SEEDS) {
      for (Client client : Client.values()) {
        RunResult result = run(seed, "8xh100-8b", client, List.of(kind.of(0, AT, FOR)));

        assertThat(sent(result, 0, AT + 2, WELL)).as("seed %d, %s", seed, client).isZero();
        assertThat(sent(result, 0, WELL, WELL + 10)).as("seed %d, %s", seed, client).isPositive();
        assertThat(result.disruption().mostOut()).isEqualTo(1);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void ofTwoDeadOutOfFourAGatewaysClientsLoseOnlyWhatTheyHadBegun(long seed) {
    RunResult result =
        run(
            seed,
            "4xh100-8b",
            Client.GATEWAY,
            List.of(Kind.REFUSE.of(0, AT, FOR), Kind.REFUSE.of(1, AT, FOR)));

    assertThat(result.disruption().secondsUntilRight()).isZero();
    assertThat(result.failed()).isLessThan(20);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void aFlappingServerIsNotTriedEverySecond(long seed) {
    List<ScenarioEvent> flapping = new ArrayList<>();
    for (double at = AT; at < WELL; at += 2) {
      flapping.add(Kind.REFUSE.of(0, at, 1));
    }
    RunResult result = run(seed, "8xh100-8b", Client.EXT_PROC, flapping);

    assertThat((double) result.failed() / result.arrived()).isLessThan(0.005);
    assertThat(result.disruption().healthChanges()).isLessThan(30);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void whenAllFailHalfAreUsedNeverthelessAndAllOfThemAfterwards(long seed) {
    List<ScenarioEvent> all = new ArrayList<>();
    for (int server = 0; server < 8; server++) {
      all.add(Kind.FAIL_FAST.of(server, AT, FOR));
    }
    RunResult result = run(seed, "8xh100-8b", Client.GATEWAY, all);
    int used = 0;
    for (int server = 0; server < 8; server++) {
      used += sent(result, server, AT + 2, WELL) > 0 ? 1 : 0;
      assertThat(sent(result, server, WELL, WELL + 15)).as("server %d", server).isPositive();
    }

    assertThat(used).isGreaterThanOrEqualTo(4);
    assertThat(result.disruption().secondsUntilRight()).isLessThan(FOR + 5);
  }

  /** Sent to a server between two times, which are taken to the next look. */
  private static double sent(RunResult result, int server, double from, double to) {
    TimeSeries sends = result.disruption().sends();
    List<Double> values = sends.lines().get(server).values();
    int first = (int) Math.ceil(from / sends.stepSeconds() - 1e-9);
    int last = Math.min(values.size(), (int) Math.floor(to / sends.stepSeconds() + 1e-9));
    return values.subList(Math.min(first, last), last).stream()
        .mapToDouble(Double::doubleValue)
        .sum();
  }
}
