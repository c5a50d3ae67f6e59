package io.fairlead.lab.gate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fairlead.lab.gate.GateBaseline.MatrixCell;
import io.fairlead.lab.gate.GateBaseline.Row;
import io.fairlead.lab.gate.GateReport.Line;
import io.fairlead.lab.gate.GateReport.Verdict;
import io.fairlead.lab.report.MadeUpRuns;
import io.fairlead.lab.report.Measure;
import io.fairlead.lab.simulator.RunResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class GateTest {

  private static final List<RunResult> RUNS =
      MadeUpRuns.matrix(List.of("chat", "lora"), List.of("cost", "weighted"), 2, 2);
  private static final GateBaseline NOW = GateBaseline.of(RUNS);

  @Test
  void unchangedRunsPassWithNoChangeAtAll() throws IOException {
    GateBaseline committed = GateBaseline.read(NOW.json());

    GateReport report = GateReport.of(committed, RUNS);

    assertThat(committed).isEqualTo(NOW);
    assertThat(report.passed()).isTrue();
    assertThat(report.lines()).hasSize(24);
    assertThat(report.lines())
        .allSatisfy(
            line -> {
              assertThat(line.verdict()).isEqualTo(Verdict.SAME);
              assertThat(line.change()).isZero();
            });
    assertThat(report.text())
        .hasSize(27)
        .anySatisfy(
            line ->
                assertThat(line)
                    .containsSubsequence("chat on 2xh100-8b, cost", "hit rate", "+0.0 %", "same"))
        .endsWith("gate passed: nothing is more than 3 % worse, no TTFT p99 more than 10 %");
  }

  @ParameterizedTest
  @CsvSource({
    "END_TO_END_MEAN, 1.029, WITHIN, true",
    "END_TO_END_MEAN, 1.03, WITHIN, true",
    "END_TO_END_MEAN, 1.031, WORSE, false",
    "END_TO_END_MEAN, 0.971, WITHIN, true",
    "END_TO_END_MEAN, 0.969, BETTER, true",
    "TTFT_P90, 1.031, WORSE, false",
    "TTFT_P99, 1.099, WITHIN, true",
    "TTFT_P99, 1.101, WORSE, false",
    "REQUESTS_PER_SECOND, 0.969, WORSE, false",
    "REQUESTS_PER_SECOND, 1.031, BETTER, true",
    "REJECTED_SHARE, 1.031, WITHIN, true",
    "HIT_RATE, 0.971, WITHIN, true",
    "HIT_RATE, 0.969, WORSE, false",
    "HIT_RATE, 1.031, BETTER, true",
  })
  void onlyMoreThanThreePerCentCounts(
      Measure measure, double factor, Verdict verdict, boolean passes) {
    GateBaseline baseline = with(measure, NOW.rows().getFirst().mean(measure) / factor);

    GateReport report = GateReport.of(baseline, RUNS);

    Line line = line(report, measure);
    assertThat(line.verdict()).isEqualTo(verdict);
    assertThat(line.change()).isCloseTo(factor - 1, Offset.offset(1e-9));
    assertThat(report.passed()).isEqualTo(passes);
    assertThat(report.lines().stream().filter(each -> each.verdict() == Verdict.SAME)).hasSize(23);
  }

  @Test
  void saysWhatToDoAboutAnImprovement() {
    GateReport report = GateReport.of(with(Measure.END_TO_END_MEAN, 1e6), RUNS);

    assertThat(report.passed()).isTrue();
    assertThat(report.text().getLast()).contains("--gate --update");
  }

  @Test
  void somethingWhereThereWasNothing() {
    assertThat(line(GateReport.of(with(Measure.HIT_RATE, 0), RUNS), Measure.HIT_RATE).verdict())
        .isEqualTo(Verdict.BETTER);
    GateReport late = GateReport.of(with(Measure.TTFT_P90, 0), RUNS);
    assertThat(line(late, Measure.TTFT_P90).verdict()).isEqualTo(Verdict.WORSE);
    assertThat(late.text()).anySatisfy(line -> assertThat(line).contains("from 0", "WORSE"));
  }

  @ParameterizedTest
  @CsvSource({"0.0549, WITHIN", "0.0551, WORSE", "0.0451, WITHIN", "0.0449, BETTER"})
  void lessThanHalfAPointOfFewHitsIsChance(double before, Verdict verdict) {
    List<RunResult> few = List.of(MadeUpRuns.run("chat", "cost", 1, 10, 2));
    Row row = GateBaseline.of(few).rows().getFirst();
    assertThat(row.mean(Measure.HIT_RATE)).isEqualTo(0.05);
    var means = new EnumMap<>(row.means());
    means.put(Measure.HIT_RATE, before);
    var baseline = new GateBaseline(List.of(new Row(row.cell(), row.seeds(), means)));

    assertThat(line(GateReport.of(baseline, few), Measure.HIT_RATE).verdict()).isEqualTo(verdict);
  }

  @Test
  void aRowThatIsNotRunFails() {
    GateReport report =
        GateReport.of(NOW, RUNS.stream().filter(run -> !run.workload().equals("lora")).toList());

    assertThat(report.passed()).isFalse();
    assertThat(report.lines().stream().filter(line -> line.verdict() == Verdict.MISSING))
        .hasSize(12)
        .allSatisfy(line -> assertThat(line.cell().workload()).isEqualTo("lora"));
    assertThat(report.text()).contains("gate FAILED: 12 of 24 measures");
  }

  @Test
  void aNewRowIsNamedAndPasses() {
    List<RunResult> runs = new ArrayList<>(RUNS);
    runs.add(MadeUpRuns.run("rag", "sticky", 1, 1, 2));

    GateReport report = GateReport.of(NOW, runs);

    assertThat(report.passed()).isTrue();
    assertThat(report.lines().stream().filter(line -> line.verdict() == Verdict.NEW))
        .hasSize(6)
        .allSatisfy(
            line ->
                assertThat(line.cell()).isEqualTo(new MatrixCell("rag", "2xh100-8b", "sticky")));
    assertThat(report.text())
        .anySatisfy(line -> assertThat(line).contains("rag on 2xh100-8b, sticky", "new"));
    assertThat(report.text().getLast()).contains("--gate --update");
  }

  @Test
  void otherSeedsAreNotCompared() {
    GateReport report = GateReport.of(NOW, RUNS.stream().filter(run -> run.seed() == 1).toList());

    assertThat(report.passed()).isFalse();
    assertThat(report.lines())
        .allSatisfy(line -> assertThat(line.verdict()).isEqualTo(Verdict.OTHER_SEEDS));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"rows\" | \"lines\" | expected one field, rows",
        "\"hit-rate\":0.5, | | rows[0].hit-rate must be a number of 0 or more, but is missing",
        "\"hit-rate\":0.5 | \"hit-rate\":\"0.5\" | rows[0].hit-rate must be a number of 0 or more, not \"0.5\"",
        "\"hit-rate\":0.5 | \"hit-rate\":-1 | rows[0].hit-rate must be a number of 0 or more, not -1",
        "\"hit-rate\":0.5 | \"hit-rate\":0.5,\"hitrate\":1 | rows[0].hitrate is not known",
        "\"hit-rate\":0.5 | \"hit-rate\":0.5,\"hit-rate\":1 | Duplicate field 'hit-rate'",
        "\"seeds\":[1] | \"seeds\":[] | rows[0].seeds is missing or empty",
        "\"seeds\":[1] | \"seeds\":[1.5] | rows[0].seeds must hold whole numbers, not 1.5",
        "\"policy\":\"cost\" | \"policy\":3 | rows[0].policy must be a string, not 3",
        "]} | ] | line",
        "]} | ]} x | line",
      })
  void namesWhatIsWrongWithABaseline(String good, String bad, String message) throws IOException {
    String json =
        "{\"rows\":[{\"workload\":\"chat\",\"pool\":\"p\",\"policy\":\"cost\",\"seeds\":[1],"
            + "\"hit-rate\":0.5,\"end-to-end-mean\":10,\"ttft-p90\":3,\"ttft-p99\":9,"
            + "\"requests-per-second\":5,\"rejected-share\":0}]}";
    assertThat(GateBaseline.read(json).rows()).hasSize(1);
    assertThat(json).contains(good);

    assertThatIOException()
        .isThrownBy(() -> GateBaseline.read(json.replace(good, bad == null ? "" : bad)))
        .withMessageStartingWith("the gate's baseline can't be read: ")
        .withMessageContaining(message)
        .withMessageContaining("; make it anew with --gate --update dataplane/");
  }

  @Test
  void lessThanHalfAPointOfRejectionsIsChance() {
    GateReport report = GateReport.of(with(Measure.REJECTED_SHARE, 0), RUNS);

    // 20 of 4,020 are rejected there, less than half a point.
    assertThat(line(report, Measure.REJECTED_SHARE).verdict()).isEqualTo(Verdict.WITHIN);
    assertThat(report.worseBy(Measure.REJECTED_SHARE)).isFalse();
    GateReport late = GateReport.of(with(Measure.TTFT_P99, 1), RUNS);
    assertThat(late.worseBy(Measure.TTFT_P99)).isTrue();
    assertThat(late.worseBy(Measure.TTFT_P90)).isFalse();
  }

  @Test
  void aPolicyIsHeldAgainstTheBestOfItsPeers() {
    List<RunResult> runs = new ArrayList<>(RUNS);
    runs.add(MadeUpRuns.run("chat", "slow", 1, 3, 2));
    runs.add(MadeUpRuns.run("chat", "slow", 2, 3, 2));

    PeerReport best = PeerReport.of(runs, "cost", List.of("weighted", "slow"), Map.of());
    assertThat(best.lines())
        .hasSize(6)
        .allSatisfy(line -> assertThat(line.peer()).isEqualTo("weighted"));
    assertThat(best.passed()).isTrue();

    PeerReport worst = PeerReport.of(runs, "slow", List.of("weighted", "cost"), Map.of());
    assertThat(worst.lines())
        .allSatisfy(line -> assertThat(line.peer()).isEqualTo("cost"))
        .extracting(PeerReport.Line::worse)
        .containsExactly(true, true, false);
    assertThat(worst.passed()).isFalse();
    assertThat(worst.text()).endsWith("FAILED beside the best peer: 2 of 3");
    assertThat(PeerReport.of(runs, "slow", List.of(), Map.of()).passed()).isFalse();
  }

  @Test
  void whatIsKnownOfATailIsSaidAndNoMoreIsLetPass() {
    List<RunResult> runs = RUNS.stream().filter(run -> run.workload().equals("chat")).toList();
    double behind = tail(PeerReport.of(runs, "weighted", List.of("cost"), Map.of())).ratio() - 1;
    assertThat(behind).isGreaterThan(0.1);

    PeerReport known =
        PeerReport.of(runs, "weighted", List.of("cost"), Map.of("chat", behind + 0.01));
    assertThat(tail(known).worse()).isFalse();
    assertThat(known.text()).anySatisfy(line -> assertThat(line).contains("behind, as is known"));
    PeerReport more =
        PeerReport.of(runs, "weighted", List.of("cost"), Map.of("chat", behind - 0.01));
    assertThat(tail(more).worse()).isTrue();
  }

  private static PeerReport.Line tail(PeerReport report) {
    return report.lines().stream()
        .filter(line -> line.measure() == Measure.TTFT_P99)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void refusesTheSameTwice() {
    List<Row> rows = List.of(NOW.rows().getFirst(), NOW.rows().getFirst());
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new GateBaseline(rows))
        .withMessage("two rows for chat on 2xh100-8b, cost");
    List<RunResult> twice = List.of(RUNS.getFirst(), RUNS.getFirst());
    assertThatIllegalArgumentException()
        .isThrownBy(() -> GateBaseline.of(twice))
        .withMessage("two runs of chat on 2xh100-8b, cost with seed 1");
  }

  /** The baseline, but for one number of its first row. */
  private static GateBaseline with(Measure measure, double mean) {
    List<Row> rows = new ArrayList<>(NOW.rows());
    Row first = rows.getFirst();
    var means = new EnumMap<>(first.means());
    means.put(measure, mean);
    rows.set(0, new Row(first.cell(), first.seeds(), means));
    return new GateBaseline(rows);
  }

  private static Line line(GateReport report, Measure measure) {
    return report.lines().stream()
        .filter(line -> line.cell().equals(NOW.rows().getFirst().cell()))
        .filter(line -> line.measure() == measure)
        .findFirst()
        .orElseThrow();
  }
}
