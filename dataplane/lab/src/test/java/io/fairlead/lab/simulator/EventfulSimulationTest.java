package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.simulator.ServerEvent.Kind;
import io.fairlead.lab.simulator.SimulationSpec.Client;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Events in virtual time: what clients get of them, and that nothing is lost or made. */
final class EventfulSimulationTest {

  private static final PoolSpec EIGHT = PoolSpec.parse("8xh100-8b");
  private static final List<Kind> KINDS = List.of(Kind.values());
  private static final double AT = 5;
  private static final double FOR = 20;

  private static Settings settings(Client client) {
    return unstreamed(client, 0);
  }

  private static Settings unstreamed(Client client, double share) {
    return Settings.builder(40, 0)
        .scrapeMillis(200)
        .client(client)
        .perception(Perception.IDEAL.withUnstreamed(share))
        .build();
  }

  private static RunResult run(long seed, Settings settings, List<ScenarioEvent> events) {
    return Simulation.run(
        new SimulationSpec(
            new TestWorkload(50, 20, 500, 30),
            Policy.named("cost"),
            EIGHT,
            seed,
            settings,
            events));
  }

  private static RunResult run(Client client, ScenarioEvent... events) {
    return run(3, settings(client), List.of(events));
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void everyRequestIsServedTurnedAwayOrFailedWhateverIsWrong(Kind kind) {
    for (Client client : Client.values()) {
      RunResult result = run(client, kind.of(0, AT, FOR));

      assertThat(result.arrived()).isBetween(1_800L, 2_200L);
      assertThat(result.completed() + result.rejected() + result.failed())
          .isEqualTo(result.arrived());
      assertThat(sum(result.disruption().failures(), 0)).isEqualTo((double) result.arrived());
      assertThat(sum(result.disruption().failures(), 1)).isEqualTo((double) result.failed());
      assertThat(sends(result, 0)).isPositive();
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void theSameSpecGivesTheSameResult(Kind kind) {
    assertThat(run(Client.GATEWAY, kind.of(0, AT, FOR), Kind.SLOW.of(1, 0, 7)))
        .isEqualTo(run(Client.GATEWAY, kind.of(0, AT, FOR), Kind.SLOW.of(1, 0, 7)));
  }

  @Test
  void aRunWithoutFaultsSaysNothingOfThem() {
    RunResult result = run(Client.GATEWAY);

    assertThat(result.disruption()).isEqualTo(Disruption.NONE);
    assertThat(result.failed()).isZero();
  }

  /** All servers fail: no policy helps, and what it looks like follows from the fault alone. */
  @Test
  void whatNobodyServesFails() {
    List<ScenarioEvent> all = new ArrayList<>();
    for (int server = 0; server < 8; server++) {
      all.add(Kind.FAIL_FAST.of(server, AT, 10));
    }
    for (Client client : Client.values()) {
      RunResult result = run(3, settings(client), all);

      TimeSeries failures = result.disruption().failures();
      assertThat(failures.stepSeconds()).isEqualTo(10);
      assertThat(result.failed()).isBetween(450L, 550L);
      assertThat(value(failures, 1, 0)).isBetween(200.0, 300.0);
      assertThat(value(failures, 1, 1)).isBetween(200.0, 300.0);
      assertThat(result.disruption().secondsUntilRight()).isBetween(9.0, 12.0);
    }
  }

  @Test
  void aRestartLosesTheCacheAndTheServerComesBack() {
    RunResult calm = run(Client.GATEWAY, Kind.RESTART.of(0, 100, 0));
    RunResult restarted = run(Client.GATEWAY, Kind.RESTART.of(0, 20, 0));

    assertThat(restarted.cachedTokens()).isLessThan(calm.cachedTokens());
    assertThat(sends(restarted, 0)).isPositive();
    assertThat(last(restarted, 0)).as("sent to it at the end").isPositive();
  }

  @Test
  void aFrozenServerGoesOnWhereItWas() {
    // A single server: nobody else can answer, and nobody gives up before it goes on.
    Settings settings = settings(Client.EXT_PROC);
    RunResult result =
        Simulation.run(
            new SimulationSpec(
                new TestWorkload(5, 1, 500, 30),
                Policy.named("round-robin"),
                PoolSpec.parse("1xh100-8b"),
                1,
                settings,
                List.of(Kind.FREEZE_LIVE.of(0, 10, 5))));

    assertThat(result.completed()).isEqualTo(result.arrived()).isPositive();
    assertThat(result.ttftMs().quantile(1)).isBetween(4_000.0, 5_500.0);
  }

  @Test
  void aSlowedServerTakesLonger() {
    Settings settings = settings(Client.GATEWAY);
    SimulationSpec calm =
        new SimulationSpec(
            new TestWorkload(0.2, 1, 1_600, 11),
            Policy.named("round-robin"),
            PoolSpec.parse("1xh100-8b"),
            4,
            settings);
    SimulationSpec slow =
        new SimulationSpec(
            calm.workload(),
            calm.policy(),
            calm.pool(),
            4,
            settings,
            List.of(Kind.SLOW.of(0, 0, Double.POSITIVE_INFINITY, 3)));

    double ratio =
        Simulation.run(slow).endToEndMs().mean() / Simulation.run(calm).endToEndMs().mean();
    assertThat(ratio).isBetween(2.9, 3.1);
  }

  @Test
  void answersInOnePieceHaveNoFirstToken() {
    Settings plain = settings(Client.GATEWAY);
    Settings whole = unstreamed(Client.GATEWAY, 1);
    Settings half = unstreamed(Client.GATEWAY, 0.5);

    RunResult result = run(3, whole, List.of());
    assertThat(result.completed()).isEqualTo(result.arrived());
    assertThat(result.ttftMs().count()).isZero();
    assertThat(run(3, plain, List.of()).ttftMs().quantile(0.5))
        .isLessThan(result.endToEndMs().quantile(0.5) / 3);
    assertThat(run(3, half, List.of()).arrived()).isEqualTo(result.arrived());
  }

  /** Anything at any time on any server, and several at once: the books balance, seed by seed. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void theBooksBalanceWhateverHappens(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<ScenarioEvent> events = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      Kind kind = KINDS.get(random.nextInt(KINDS.size()));
      events.add(kind.of(random.nextInt(8), random.nextDouble(40), random.nextDouble(10)));
    }
    for (int i = 0; i < 3; i++) {
      events.add(
          new ServersJoin(random.nextDouble(40), random.nextInt(1, 3), null, random.nextInt(9)));
      events.add(new PoolScale(random.nextDouble(40), random.nextInt(2, 12), null, 0));
      events.add(new PickerRestart(0, random.nextDouble(40), 0));
    }
    Settings settings =
        Settings.builder(40, 0)
            .scrapeMillis(200)
            .pickers(random.nextInt(1, 3))
            .client(random.nextBoolean() ? Client.GATEWAY : Client.EXT_PROC)
            .perception(Perception.IDEAL.withUnstreamed(random.nextDouble()))
            .build();

    RunResult result = run(seed, settings, events);
    assertThat(result.completed() + result.rejected() + result.failed())
        .as("seed %d", seed)
        .isEqualTo(result.arrived());
    assertThat(run(seed, settings, events)).isEqualTo(result);
  }

  private static double sum(TimeSeries series, int line) {
    return series.lines().get(line).values().stream().mapToDouble(Double::doubleValue).sum();
  }

  private static double value(TimeSeries series, int line, int step) {
    return series.lines().get(line).values().get(step);
  }

  private static double sends(RunResult result, int server) {
    return sum(result.disruption().sends(), server);
  }

  /** Sent to a server in the last tenth of the time. */
  private static double last(RunResult result, int server) {
    List<Double> values = result.disruption().sends().lines().get(server).values();
    return values.subList(values.size() * 9 / 10, values.size()).stream()
        .mapToDouble(Double::doubleValue)
        .sum();
  }
}
