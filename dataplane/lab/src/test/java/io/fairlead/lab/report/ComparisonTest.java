package io.fairlead.lab.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fairlead.lab.report.Comparison.Group;
import io.fairlead.lab.report.PolicySummary.Standing;
import io.fairlead.lab.report.Versus.Verdict;
import io.fairlead.lab.simulator.Flow;
import io.fairlead.lab.simulator.RunResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

final class ComparisonTest {

  private static final List<RunResult> RUNS =
      MadeUpRuns.matrix(List.of("chat", "rag"), List.of("cost", "weighted", "sticky"), 5, 4);

  @Test
  void groupsByWorkloadAndPoolInTheOrderOfTheRuns() {
    List<RunResult> runs = new ArrayList<>(RUNS);
    runs.add(MadeUpRuns.run("chat", "cost", 1, 1, 8));

    Comparison comparison = Comparison.of(runs, "cost");

    assertThat(comparison.groups().stream().map(Group::title))
        .containsExactly("chat on 4xh100-8b", "rag on 4xh100-8b", "chat on 8xh100-8b");
    assertThat(comparison.groups().getFirst().policies().stream().map(PolicySummary::policy))
        .containsExactly("cost", "weighted", "sticky");
    assertThat(comparison.groups().getFirst().policies().getFirst().seeds())
        .containsExactly(1L, 2L, 3L, 4L, 5L);
  }

  @Test
  void meansAndRatiosAreThoseOfTheRuns() {
    Comparison comparison = Comparison.of(RUNS, "weighted");
    double weighted = mean("chat", "weighted");
    double cost = mean("chat", "cost");

    PolicySummary.Cell cell =
        comparison.groups().getFirst().policies().getFirst().cell(Measure.TTFT_P99);

    assertThat(cell.value().mean()).isCloseTo(cost, Offset.offset(1e-9));
    assertThat(cell.value().halfWidth()).isPositive();
    Versus versus = cell.versus();
    assertThat(versus).isNotNull();
    assertThat(versus.ratio()).isCloseTo(cost / weighted, Offset.offset(1e-9));
    assertThat(versus.verdict()).isEqualTo(Verdict.BETTER);
    assertThat(cell.standing()).isEqualTo(Standing.BEST);
  }

  @Test
  void comparesOnlySeedsInCommon() {
    List<RunResult> runs =
        RUNS.stream()
            .filter(run -> run.workload().equals("chat"))
            .filter(run -> !run.policy().equals("cost") || run.seed() > 2)
            .toList();

    Versus versus =
        Comparison.of(runs, "weighted")
            .groups()
            .getFirst()
            .policies()
            .getFirst()
            .cell(Measure.END_TO_END_MEAN)
            .versus();

    assertThat(versus).isNotNull();
    assertThat(versus.seeds()).isEqualTo(3);
  }

  @Test
  void aGroupWithoutTheReferenceHasNoRatios() {
    List<RunResult> runs = new ArrayList<>(RUNS);
    runs.add(MadeUpRuns.run("lora", "cost", 1, 1, 8));

    Comparison comparison = Comparison.of(runs, "sticky");

    assertThat(comparison.groups().getLast().policies().getFirst().cell(Measure.JAIN).versus())
        .isNull();
  }

  @Test
  void marksTheBestAndItsTiesButNothingWhereAllTie() {
    List<RunResult> runs =
        List.of(
            MadeUpRuns.run("chat", "a", 1, 1.5, 4),
            MadeUpRuns.run("chat", "b", 1, 1, 4),
            MadeUpRuns.run("chat", "c", 1, 1.001, 4));

    Group group = Comparison.of(runs, "a").groups().getFirst();

    assertThat(group.policies().stream().map(policy -> group.mark(policy, Measure.TTFT_P99)))
        .containsExactly("", "★", "≈");
    assertThat(group.policies().stream().map(policy -> group.mark(policy, Measure.JAIN)))
        .containsExactly("", "", "");
    assertThat(group.telling())
        .contains(Measure.TTFT_P99, Measure.HIT_RATE)
        .doesNotContain(Measure.JAIN, Measure.ADAPTER_LOADS, Measure.REJECTED_SHARE);
  }

  @Test
  void namesWhatIsWrong() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Comparison.of(RUNS, "round-robin"))
        .withMessage(
            "reference policy round-robin has no run; there are runs of [cost, weighted, sticky]");
    List<RunResult> twice = new ArrayList<>(RUNS);
    twice.add(RUNS.getFirst());
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Comparison.of(twice, "cost"))
        .withMessage(
            "two runs of workload chat, pool 4xh100-8b, policy cost and seed 1; each may be there"
                + " once");
  }

  @Test
  void textHasABlockPerGroupAndALinePerPolicy() {
    List<String> lines = Comparison.of(RUNS, "weighted").lines();

    assertThat(lines).hasSize(2 * 5 + 1);
    assertThat(lines.getFirst()).isEqualTo("chat on 4xh100-8b");
    assertThat(lines.get(1)).startsWith("policy").endsWith("end-to-end vs weighted");
    assertThat(lines.get(2)).startsWith("cost").endsWith("better");
    assertThat(lines.get(3)).startsWith("weighted").endsWith("  reference");
    assertThat(lines.get(5)).isEmpty();
  }

  @Test
  void latenciesOfThoseWhoRejectOtherSharesAreNotCompared() {
    List<RunResult> runs = new ArrayList<>();
    for (long seed = 1; seed <= 3; seed++) {
      runs.add(MadeUpRuns.rejecting(MadeUpRuns.run("bursty", "refuses", seed, 0.5, 4), 2_000));
      runs.add(MadeUpRuns.run("bursty", "slow", seed, 1.5, 4));
      runs.add(MadeUpRuns.rejecting(MadeUpRuns.run("bursty", "fast", seed, 1, 4), 40));
    }
    Comparison comparison = Comparison.of(runs, "slow");
    Group group = comparison.groups().getFirst();
    PolicySummary refuses = group.policies().getFirst();

    assertThat(refuses.cell(Measure.END_TO_END_MEAN).versus()).isNull();
    assertThat(refuses.cell(Measure.TTFT_P99).versus()).isNull();
    assertThat(refuses.cell(Measure.HIT_RATE).versus()).isNull();
    assertThat(refuses.cell(Measure.GOODPUT).versus()).isNotNull();
    assertThat(group.policies().stream().map(policy -> group.mark(policy, Measure.TTFT_P99)))
        .containsExactly("", "", "★");
    assertThat(comparison.lines().get(1)).contains("  rejected  ");
    assertThat(comparison.lines().get(2)).contains(" 33.3 % ").endsWith("rejects 32.8 points more");
    assertThat(comparison.lines().get(4)).contains(" 1.0 % ").endsWith(" better");
  }

  @Test
  void aPolicyThatAloneServesAllIsNotTheFastest() {
    List<RunResult> runs =
        List.of(
            MadeUpRuns.rejecting(MadeUpRuns.run("bursty", "refuses", 1, 0.5, 4), 2_000),
            MadeUpRuns.run("bursty", "serves", 1, 1.5, 4));
    Group group = Comparison.of(runs, "serves").groups().getFirst();

    assertThat(group.policies().stream().map(policy -> group.mark(policy, Measure.TTFT_P99)))
        .containsExactly("", "");
    assertThat(group.policies().stream().map(policy -> group.mark(policy, Measure.REJECTED_SHARE)))
        .containsExactly("", "★");
  }

  @Test
  void textHasNoColumnOfRejectedWhereNoneIs() {
    List<RunResult> runs = RUNS.stream().map(run -> MadeUpRuns.rejecting(run, 0)).toList();

    assertThat(Comparison.of(RUNS, "cost").lines().get(1)).contains("  rejected  ");
    assertThat(Comparison.of(runs, "cost").lines().get(1)).doesNotContain("rejected");
  }

  @Test
  void aFlowThatIsServedNothingIsTheSlowest() {
    Flow served = new Flow("a", 9, 9, 0, 9, 20, 5);
    Flow starved = new Flow("b", 9, 0, 9, 0, Double.NaN, Double.NaN);
    Flow idle = new Flow("c", 0, 0, 0, 0, Double.NaN, Double.NaN);
    RunResult run = MadeUpRuns.run("chat", "fair", 1, 1, 4);
    RunResult fair = MadeUpRuns.of(run, served, idle);
    RunResult unfair = MadeUpRuns.of(MadeUpRuns.as(run, "chat", "unfair"), served, starved, idle);
    Group group = Comparison.of(List.of(unfair, fair), "fair").groups().getFirst();

    assertThat(Measure.SLOWEST_FLOW.of(fair)).isEqualTo(20);
    assertThat(Measure.SLOWEST_FLOW.of(unfair)).isInfinite();
    assertThat(Measure.SLOWEST_FLOW.of(MadeUpRuns.of(run, served))).isNaN();
    assertThat(group.policies().stream().map(each -> group.mark(each, Measure.SLOWEST_FLOW)))
        .containsExactly("", "★");
    assertThat(Shown.value(Measure.SLOWEST_FLOW, Measure.SLOWEST_FLOW.of(unfair))).isEqualTo("∞");
    assertThat(beside(unfair, fair)).isEqualTo(Verdict.WORSE);
    assertThat(beside(fair, unfair)).isEqualTo(Verdict.BETTER);
    assertThat(beside(unfair, MadeUpRuns.as(unfair, "chat", "as-unfair")))
        .isEqualTo(Verdict.ABSENT);
  }

  private static Verdict beside(RunResult run, RunResult reference) {
    return Objects.requireNonNull(
            Comparison.of(List.of(run, reference), reference.policy())
                .groups()
                .getFirst()
                .policies()
                .getFirst()
                .cell(Measure.SLOWEST_FLOW)
                .versus())
        .verdict();
  }

  @Test
  void measureNamesAreTheirOwn() {
    assertThat(Arrays.stream(Measure.values()).map(Measure::id)).doesNotHaveDuplicates();
    assertThat(Arrays.stream(Measure.values()).map(Measure::title)).doesNotHaveDuplicates();
  }

  private static double mean(String workload, String policy) {
    return RUNS.stream()
        .filter(run -> run.workload().equals(workload) && run.policy().equals(policy))
        .mapToDouble(run -> run.ttftMs().quantile(0.99))
        .average()
        .orElseThrow();
  }
}
