package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Percentage.withPercentage;

import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.Workload;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests whose prompts one server computes, and whose answers another one gives. */
final class PairsTest {

  private static final Workload LONELY = new TestWorkload(0.2, 1_000, 4_000, 60);
  private static final Workload BUSY = new TestWorkload(12, 12, 4_000, 60);
  private static final PoolSpec POOL = PoolSpec.parse("1xh100-8b:prefill+2xh100-8b:decode");

  private static RunResult run(
      Workload workload, String policy, PoolSpec pool, double seconds, ScenarioEvent... events) {
    return Simulation.run(
        new SimulationSpec(
            workload, Policy.named(policy), pool, 7, Settings.of(seconds, 0), List.of(events)));
  }

  /** A prefill, the way of 4,000 tokens, and a step that computes the last of them again. */
  @Test
  void aPromptThatIsComputedElsewhereTakesItsWay() {
    double prefill = 3.86 + 0.01836 * 4_000 + 8.19e-7 * 4_000 * 2_000;
    double way = 4 + 4_000 * 131_072 / 16e9 * 1e3;

    RunResult pairs = run(LONELY, "pd-cost", POOL, 200);
    RunResult alone = run(LONELY, "cost", PoolSpec.parse("3xh100-8b"), 200);

    assertThat(alone.ttftMs().mean()).isCloseTo(prefill, withPercentage(1));
    assertThat(pairs.ttftMs().quantile(0.5)).isCloseTo(prefill + way + 7, withPercentage(5));
    assertThat(pairs.completed()).isEqualTo(pairs.arrived()).isGreaterThan(20);
  }

  @Test
  void anotherRackIsFartherAway() {
    List<Site> sites =
        List.of(new Site("prefill", "a"), new Site("decode", "b"), new Site("decode", "b"));
    KvLink link = new KvLink(131_072, 16, 4, 5);
    PoolSpec far = new PoolSpec("far", POOL.engines(), sites, link);
    double more = 4 * 4_000 * 131_072 / 16e9 * 1e3;

    assertThat(run(LONELY, "pd-cost", far, 200).ttftMs().quantile(0.5))
        .isCloseTo(
            run(LONELY, "pd-cost", POOL, 200).ttftMs().quantile(0.5) + more, withPercentage(5));
  }

  /** What the prefill server had cached is what counts as cached, and is computed no more. */
  @ParameterizedTest
  @ValueSource(strings = {"pd-cost", "pd-llm-d"})
  void everyRequestIsServedAndSharedPromptsAreFound(String policy) {
    RunResult result = run(BUSY, policy, POOL, 60);

    assertThat(result.completed()).isEqualTo(result.arrived()).isGreaterThan(600);
    assertThat(result.hitRate()).isBetween(0.3, 0.5);
    assertThat(result).isEqualTo(run(BUSY, policy, POOL, 60));
  }

  /**
   * Whoever had such a request, or was to have it, is gone: none is lost and none is left behind.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void noRequestIsLostWithOneOfTwo(int server) {
    for (ServerEvent.Kind kind :
        List.of(
            ServerEvent.Kind.REFUSE,
            ServerEvent.Kind.RESTART,
            ServerEvent.Kind.FREEZE,
            ServerEvent.Kind.SWALLOW,
            ServerEvent.Kind.FAIL_FAST)) {
      ScenarioEvent event =
          Scenario.line("kind=%s,server=%d,at=10s,for=5s".formatted(kind.word(), server))
              .events(40)
              .getFirst();

      RunResult result = run(BUSY, "pd-cost", POOL, 40, event);

      assertThat(result.completed() + result.rejected() + result.failed())
          .as("%s of server %d", kind, server)
          .isEqualTo(result.arrived());
      assertThat(result.completed()).isGreaterThan(result.arrived() * 8 / 10);
    }
  }
}
