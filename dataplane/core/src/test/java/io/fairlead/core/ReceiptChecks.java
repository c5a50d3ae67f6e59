package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.receipt.Decision;
import io.fairlead.core.receipt.KeptRequest;
import io.fairlead.core.receipt.ProfileRun;
import io.fairlead.core.scheduling.SchedulerOutline.WeightedScorer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What every receipt has to hold, whatever was decided: it tells all, and its sums are right. */
final class ReceiptChecks {

  private static final double NEAR = 1e-9;

  private ReceiptChecks() {}

  /**
   * Checks the last decision.
   *
   * @param endpoints names of those that there were
   */
  static void check(KeptRequest receipt, Set<String> endpoints) {
    List<Decision> decisions = receipt.decisions();
    assertThat(receipt.request().attempts()).isEqualTo(decisions.size());
    for (Decision refusal : receipt.refusals()) {
      assertThat(refusal.isRefusal()).isTrue();
      assertThat(refusal.runs()).allMatch(run -> run.pickCount() == 0);
    }
    if (decisions.isEmpty()) {
      assertThat(receipt.request().endpoint()).isEmpty();
      String outcome = receipt.request().outcome();
      if (!outcome.equals(Reason.PLUGIN_FAILED.code())
          && !outcome.equals(Reason.NOT_CONFIGURED.code())) {
        assertThat(receipt.refusals()).as("why nobody got it").isNotEmpty();
        assertThat(names(receipt.refusals().getLast()))
            .containsExactlyInAnyOrderElementsOf(endpoints);
      }
      return;
    }
    Decision decision = decisions.getLast();
    assertThat(receipt.request().endpoint()).isEqualTo(decision.candidate(decision.picked()));
    ProfileRun counts = decision.primaryRun();
    int place = counts.place(decision.picked());
    if (counts.hasCost(place)) {
      assertThat(receipt.request().expectedFirstToken())
          .as("but for the digits that terms are not kept with")
          .isCloseTo(counts.expectedFirstToken(place), withinPercentage(1e-4));
    }
    assertThat(names(decision)).containsExactlyInAnyOrderElementsOf(endpoints);
    assertThat(decision.facts(decision.picked())).isNotNull();
    decision.runs().forEach(run -> check(run, decision.candidates()));
  }

  private static List<String> names(Decision decision) {
    List<String> told = new ArrayList<>();
    for (int i = 0; i < decision.candidates(); i++) {
      told.add(decision.candidate(i));
    }
    decision.excluded().forEach(one -> told.add(one.endpoint()));
    return told;
  }

  private static void check(ProfileRun run, int candidates) {
    int rejected = 0;
    for (int i = 0; i < candidates; i++) {
      boolean kept = run.rejectedBy(i) == ProfileRun.KEPT;
      rejected += kept ? 0 : 1;
      assertThat(run.place(i) >= 0).as("candidate %d is left", i).isEqualTo(kept);
      assertThat(run.rejectedBy(i)).isLessThan(run.outline().filters().size());
    }
    assertThat(run.left()).isEqualTo(candidates - rejected);
    double best = Double.NEGATIVE_INFINITY;
    for (int place = 0; place < run.left(); place++) {
      double sum = 0;
      List<WeightedScorer> scorers = run.outline().scorers();
      for (int s = 0; s < scorers.size(); s++) {
        sum += scorers.get(s).weight() * run.score(s, place);
      }
      assertThat(run.sum(place)).as("the scores with their weights").isEqualTo(sum);
      best = Math.max(best, sum);
      if (run.hasCost(place)) {
        assertThat(run.cost(place)).isPositive();
        assertThat(run.expectedFirstToken(place)).isBetween(0.0, run.cost(place) * (1 + NEAR));
      }
    }
    if (run.pickCount() > 0 && run.outline().picker().equals("max-score-picker")) {
      assertThat(run.sum(run.pick(0))).as("who was picked scored best").isEqualTo(best);
    }
  }
}
