package io.fairlead.lab.evaluation;

import static io.fairlead.lab.evaluation.Rows.CHAT;
import static io.fairlead.lab.evaluation.Rows.diverged;
import static io.fairlead.lab.evaluation.Rows.refusing;
import static io.fairlead.lab.evaluation.Rows.results;
import static io.fairlead.lab.evaluation.Rows.row;
import static io.fairlead.lab.evaluation.Rows.with;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.evaluation.Judgement.Criterion;
import io.fairlead.lab.evaluation.Judgement.Outcome;
import io.fairlead.lab.evaluation.Row.Setting;
import io.fairlead.lab.report.Measure;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class VerdictTest {

  private static final Plan.Part PART =
      Objects.requireNonNull(Plan.read(Rows.PLAN).parts().get("main"));

  @Test
  void theIntervalOfARatioIsStudentsOnLogarithms() {
    Interval interval = Interval.ratio(new double[] {1, 2}, new double[] {1, 1});

    assertThat(interval.middle()).isCloseTo(Math.sqrt(2), Offset.offset(1e-9));
    // 12.7062 is Student's bound for one degree of freedom; the logs' mean is ln 2 / 2, and so is
    // the error of it.
    assertThat(Math.log(interval.high() / interval.middle()))
        .isCloseTo(12.7062 * Math.log(2) / 2, Offset.offset(1e-3));
    assertThat(interval.low() * interval.high())
        .isCloseTo(interval.middle() * interval.middle(), Offset.offset(1e-6));
  }

  @Test
  void oneSeedShowsNothing() {
    Interval interval = Interval.ratio(new double[] {1}, new double[] {2});

    assertThat(interval.high()).isInfinite();
    assertThat(interval.low()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    // The same ratio in each seed is sure; the mean alone would say the same of all these.
    "1.02, 1.02, 1.02, PASSED",
    "1.04, 1.04, 1.04, FAILED",
    "0.92, 1.02, 1.12, UNCLEAR",
    "1.01, 1.02, 1.03, UNCLEAR",
  })
  void passesOnlyIfTheWholeIntervalKeepsTheBound(
      double first, double second, double third, Outcome outcome) {
    Verdict verdict =
        verdict(
            row(CHAT, "cost", 1_000 * first, 2_000 * second, 3_000 * third),
            row(CHAT, "weighted", 1_000, 2_000, 3_000));

    assertThat(of(verdict, Criterion.MEAN).outcome()).isEqualTo(outcome);
  }

  @Test
  void theBoundIsThatOfTheCaseWithItsLoadAndPool() {
    Plan.Part part =
        Objects.requireNonNull(
            Plan.read(
                    Rows.PLAN.replace(
                        "- {workload: chat, loads: [1, 2], upTo: 3, seconds: 10}",
                        """
                        - {workload: chat, loads: [0.5], bound: 0.5, seconds: 10}
                            - {workload: chat, seconds: 10}
                            - {workload: chat, loads: [2], upTo: 2.5, bound: 0.8, seconds: 10}
                            - {workload: chat, pool: 2xl4-8b, bound: 0.9, seconds: 10}
                        """))
                .parts()
                .get("main"));

    assertThat(bound(part, new Setting("chat", 0.5, "8xh100-8b", ""))).isEqualTo(0.5);
    assertThat(bound(part, CHAT)).isEqualTo(1.03);
    assertThat(bound(part, Rows.CHAT_TWICE)).isEqualTo(0.8);
    assertThat(bound(part, new Setting("chat", 2.5, "8xh100-8b", ""))).isEqualTo(0.8);
    assertThat(bound(part, new Setting("chat", 1, "2xl4-8b", ""))).isEqualTo(0.9);
  }

  private static double bound(Plan.Part part, Setting setting) {
    PartResults results = results(row(setting, "cost", 1, 1, 1), row(setting, "weighted", 1, 1, 1));
    return of(Verdict.of(part, results), Criterion.MEAN).bound();
  }

  @Test
  void goodputMustNotBeLess() {
    Row weighted = row(CHAT, "weighted", 9, 9, 9);
    Row fewer = with(row(CHAT, "cost", 9, 9, 9), Measure.GOOD_PER_SECOND, 38.0, 38.0, 38.0);

    assertThat(of(verdict(fewer, weighted), Criterion.GOODPUT).outcome()).isEqualTo(Outcome.FAILED);
    assertThat(of(verdict(weightedAs("cost"), weighted), Criterion.GOODPUT).outcome())
        .isEqualTo(Outcome.PASSED);
  }

  @Test
  void hitRatesCountWhereSomethingIsShared() {
    Row cost = with(row(CHAT, "cost", 9, 9, 9), Measure.HIT_RATE, 0.8, 0.8, 0.8);
    Row peer = with(row(CHAT, "weighted", 9, 9, 9), Measure.HIT_RATE, 0.83, 0.83, 0.83);
    Row none = row(CHAT, "weighted", 9, 9, 9);

    assertThat(of(verdict(cost, peer), Criterion.HIT_RATE).outcome()).isEqualTo(Outcome.FAILED);
    assertThat(verdict(cost, none).judgements())
        .extracting(Judgement::criterion)
        .doesNotContain(Criterion.HIT_RATE);
  }

  @Test
  void theBestPeerHasTheLowestMeanUnlessMeasuresAreLookedAtSingly() {
    Row cost = row(CHAT, "cost", 10, 10, 10);
    Row weighted = row(CHAT, "weighted", 10, 10, 10);
    Row product = with(row(CHAT, "product", 11, 11, 11), Measure.TTFT_P99, 50.0, 50.0, 50.0);
    PartResults results = results(cost, weighted, product);

    assertThat(Verdict.of(PART, results).judgements())
        .extracting(Judgement::peer)
        .containsOnly("weighted");
    Judgement tail = of(Verdict.bySingleMeasures(PART, results), Criterion.TTFT_P99);
    assertThat(tail.peer()).isEqualTo("product");
    assertThat(tail.outcome()).isEqualTo(Outcome.FAILED);
  }

  @Test
  void aPeerThatDoesNotKeepUpIsNoMeasureOfLatency() {
    Row cost = row(CHAT, "cost", 10, 10, 10);
    Row growing = diverged(row(CHAT, "weighted", 1, 1, 1), true, true, false);

    Verdict one = verdict(cost, growing, row(CHAT, "product", 10, 10, 10));
    assertThat(of(one, Criterion.MEAN).peer()).isEqualTo("product");

    Verdict alone = verdict(cost, growing);
    assertThat(alone.judgements())
        .extracting(Judgement::criterion)
        .containsExactly(Criterion.SUSTAINED, Criterion.GOODPUT);
    assertThat(alone.judgements()).allMatch(Judgement::passed);
  }

  @Test
  void fallingBehindWhereAPeerKeepsUpFailsWhateverTheRatio() {
    Verdict verdict =
        verdict(
            diverged(row(CHAT, "cost", 1, 1, 1), true, false, true),
            row(CHAT, "weighted", 10, 10, 10));

    Judgement rate = of(verdict, Criterion.SUSTAINED);
    assertThat(rate.interval().middle()).isEqualTo(1);
    assertThat(rate.outcome()).isEqualTo(Outcome.BEHIND);
    assertThat(rate.line()).contains("falls behind").contains("weighted");
  }

  /** The same rule for both: neither is out by the luck of one seed. */
  @Test
  void oneSeedOfThreeThatFallsBehindIsLeftOutOfLatenciesWhoeverItIs() {
    Row cost = row(CHAT, "cost", 10, 10, 10);
    Row weighted = row(CHAT, "weighted", 8, 8, 90);

    Verdict ofPeer = verdict(cost, diverged(weighted, false, false, true));
    assertThat(of(ofPeer, Criterion.MEAN).interval().middle()).isCloseTo(1.25, Offset.offset(1e-9));
    assertThat(of(ofPeer, Criterion.MEAN).outcome()).isEqualTo(Outcome.FAILED);

    // Who is the best is seen by the same seeds.
    Verdict ofTwo =
        verdict(cost, diverged(weighted, false, false, true), row(CHAT, "product", 11, 11, 11));
    assertThat(of(ofTwo, Criterion.MEAN).peer()).isEqualTo("weighted");

    Verdict ofSubject =
        verdict(
            diverged(row(CHAT, "cost", 90, 8, 8), true, false, false),
            row(CHAT, "weighted", 10, 10, 10));
    assertThat(of(ofSubject, Criterion.MEAN).interval().middle())
        .isCloseTo(0.8, Offset.offset(1e-9));
    assertThat(of(ofSubject, Criterion.GOODPUT).passed()).isTrue();
    assertThat(of(ofSubject, Criterion.SUSTAINED).passed()).as("what it completed").isTrue();
  }

  @Test
  void valuesOfNoSeedShowNothing() {
    assertThat(Interval.ratio(new double[0], new double[0]).high()).isInfinite();
  }

  /** What is left after a refusal is quick to serve: that is no better latency. */
  @Test
  void whoRefusesMoreThanAPeerThatKeepsUpIsJudgedByWhatItServed() {
    Row cost = refusing(row(CHAT, "cost", 1, 1, 1), 0.5);
    Row fewer = with(cost, Measure.SUSTAINED_PER_SECOND, 25.0, 25.0, 25.0);

    Verdict verdict = verdict(fewer, row(CHAT, "weighted", 10, 10, 10));

    assertThat(verdict.judgements())
        .extracting(Judgement::criterion)
        .containsExactly(Criterion.SUSTAINED, Criterion.GOODPUT);
    assertThat(of(verdict, Criterion.SUSTAINED).outcome()).isEqualTo(Outcome.FAILED);
  }

  /** It refuses those that would be slow: one in a hundred is all of the p99. */
  @Test
  void aTailIsNotBoughtByRefusingIt() {
    Row cost = refusing(row(CHAT, "cost", 10, 10, 10), 0.009);
    Row quicker = with(cost, Measure.TTFT_P99, 50.0, 50.0, 50.0);

    assertThat(verdict(quicker, row(CHAT, "weighted", 10, 10, 10)).judgements())
        .extracting(Judgement::criterion)
        .doesNotContain(Criterion.TTFT_P99);
  }

  /** Peers that refuse most keep up, those that refuse nobody don't, and serve most. */
  @Test
  void ratesAreBesideWhoHasMostWhetherOrNotItKeepsUp() {
    Row cost = refusing(row(CHAT, "cost", 1, 1, 1), 0.4);
    Row shedding =
        with(
            refusing(row(CHAT, "weighted", 1, 1, 1), 0.5),
            Measure.SUSTAINED_PER_SECOND,
            40.0,
            40.0,
            40.0);
    Row all = diverged(row(CHAT, "product", 1, 1, 1), true, true, true);
    all = with(all, Measure.SUSTAINED_PER_SECOND, 80.0, 80.0, 80.0);

    Judgement rate = of(verdict(cost, shedding, all), Criterion.SUSTAINED);
    assertThat(rate.peer()).isEqualTo("product");
    assertThat(rate.outcome()).isEqualTo(Outcome.FAILED);

    Row growing = diverged(row(CHAT, "cost", 1, 1, 1), true, true, true);
    assertThat(of(verdict(growing, shedding), Criterion.SUSTAINED).outcome())
        .as("it completes more than who sheds")
        .isEqualTo(Outcome.PASSED);
  }

  @Test
  void aPeerThatRefusesMoreIsNoMeasureOfLatency() {
    Row cost = row(CHAT, "cost", 10, 10, 10);
    Row refusing = refusing(row(CHAT, "weighted", 1, 1, 1), 0.2);

    Verdict one = verdict(cost, refusing, row(CHAT, "product", 10, 10, 10));
    assertThat(of(one, Criterion.MEAN).peer()).isEqualTo("product");

    assertThat(verdict(cost, refusing).judgements())
        .extracting(Judgement::criterion)
        .containsExactly(Criterion.SUSTAINED, Criterion.GOODPUT);
  }

  @Test
  void whereBothRefuseAsMuchLatenciesAreCompared() {
    Verdict verdict =
        verdict(
            refusing(row(CHAT, "cost", 9, 9, 9), 0.301),
            refusing(row(CHAT, "weighted", 10, 10, 10), 0.3));

    assertThat(of(verdict, Criterion.MEAN).passed()).isTrue();
  }

  @Test
  void eachRateIsBesideWhoHasTheBestOfIt() {
    Row cost = diverged(row(CHAT, "cost", 1, 1, 1), true, true, true);
    Row most = diverged(row(CHAT, "weighted", 1, 1, 1), true, true, true);
    most = with(most, Measure.SUSTAINED_PER_SECOND, 60.0, 60.0, 60.0);
    Row good = diverged(row(CHAT, "product", 1, 1, 1), true, true, true);
    good = with(good, Measure.GOOD_PER_SECOND, 50.0, 50.0, 50.0);

    Verdict verdict = verdict(cost, most, good);

    assertThat(of(verdict, Criterion.SUSTAINED).peer()).isEqualTo("weighted");
    assertThat(of(verdict, Criterion.GOODPUT).peer()).isEqualTo("product");
    assertThat(verdict.judgements()).noneMatch(Judgement::passed);
  }

  @Test
  void nothingServedWhereAPeerServesIsWorse() {
    Row none = with(row(CHAT, "cost", 9, 9, 9), Measure.GOOD_PER_SECOND, 0.0, 0.0, 0.0);

    assertThat(of(verdict(none, row(CHAT, "weighted", 9, 9, 9)), Criterion.GOODPUT).outcome())
        .isEqualTo(Outcome.FAILED);
  }

  @Test
  void aSeedWithoutAHitRateIsNoPass() {
    Row cost = with(row(CHAT, "cost", 9, 9, 9), Measure.HIT_RATE, 0.9, Double.NaN, 0.9);
    Row peer = with(row(CHAT, "weighted", 9, 9, 9), Measure.HIT_RATE, 0.5, 0.5, 0.5);

    Judgement hits = of(verdict(cost, peer), Criterion.HIT_RATE);
    assertThat(hits.judged()).isTrue();
    assertThat(hits.passed()).isFalse();
  }

  @Test
  void nothingBesideNothingIsNotJudged() {
    Row cost = with(row(CHAT, "cost", 9, 9, 9), Measure.GOOD_PER_SECOND, 0.0, 0.0, 0.0);
    Row peer = with(row(CHAT, "weighted", 9, 9, 9), Measure.GOOD_PER_SECOND, 0.0, 0.0, 0.0);

    Judgement goodput = of(verdict(cost, peer), Criterion.GOODPUT);

    assertThat(goodput.outcome()).isEqualTo(Outcome.NOT_JUDGED);
    assertThat(goodput.passed()).isFalse();
    assertThat(goodput.cell()).isEqualTo("not judged");
    assertThat(
            new Headline(
                    Plan.read(Rows.PLAN),
                    Map.of("main", results(cost, peer)),
                    "abcdef",
                    Rows::policy)
                .text())
        .contains("Not judged, since both have nothing (1)")
        .contains("2 of 2 judgements pass");
  }

  @Test
  void noValuesAtAllAreNoPass() {
    Double[] none = {Double.NaN, Double.NaN, Double.NaN};
    Row cost = with(row(CHAT, "cost", 9, 9, 9), Measure.TTFT_P99, none);
    Row peer = with(row(CHAT, "weighted", 9, 9, 9), Measure.TTFT_P99, none);

    assertThat(of(verdict(cost, peer), Criterion.TTFT_P99).passed()).isFalse();
  }

  private static Row weightedAs(String name) {
    return row(CHAT, name, 9, 9, 9);
  }

  private static Verdict verdict(Row... rows) {
    return Verdict.of(PART, results(rows));
  }

  private static Judgement of(Verdict verdict, Criterion criterion) {
    List<Judgement> found =
        verdict.judgements().stream().filter(each -> each.criterion() == criterion).toList();
    assertThat(found).hasSize(1);
    return found.getFirst();
  }
}
