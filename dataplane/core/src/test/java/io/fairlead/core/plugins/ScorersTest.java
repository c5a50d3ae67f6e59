package io.fairlead.core.plugins;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.plugin.Scorer;
import org.junit.jupiter.api.Test;

class ScorersTest {

  private static final double UNKNOWN = Double.NaN;

  @Test
  void queueIsRelativeToTheShortestAndTheLongest() {
    assertThat(scores(new QueueScorer(), TestCandidates.queues(2, 4, 10)))
        .containsExactly(1, 0.75, 0);
    assertThat(scores(new QueueScorer(), TestCandidates.queues(3, 3))).containsExactly(1, 1);
    assertThat(scores(new QueueScorer(), TestCandidates.queues(7))).containsExactly(1);
  }

  @Test
  void queueCountsWhatWasSentButNotYetScraped() {
    TestCandidates candidates = new TestCandidates().add(0, 6, UNKNOWN, 0).add(3, 0, UNKNOWN, 0);
    assertThat(scores(new QueueScorer(), candidates)).containsExactly(0, 1);
  }

  @Test
  void kvCacheIsWhatIsFreeAndTheUnknownCountAsTheMean() {
    Scorer scorer = new KvCacheUtilizationScorer();
    assertThat(scores(scorer, TestCandidates.usages(0, 0.25, 1))).containsExactly(1, 0.75, 0);
    assertThat(scores(scorer, TestCandidates.usages(0.5, UNKNOWN, 0)))
        .containsExactly(0.5, 0.75, 1);
    assertThat(scores(scorer, TestCandidates.usages(UNKNOWN, UNKNOWN))).containsExactly(0.5, 0.5);
  }

  @Test
  void prefixIsTheShareOfThePromptThatMatches() {
    TestCandidates candidates =
        new TestCandidates().add(0, 0, 0, 0).add(0, 0, 0, 5).add(0, 0, 0, 10);
    assertThat(scores(new PrefixCacheScorer(), candidates)).containsExactly(0, 0.5, 1);
    assertThat(scores(new PrefixCacheScorer(), TestCandidates.queues(1), 0)).containsExactly(0);
  }

  private static double[] scores(Scorer scorer, TestCandidates candidates) {
    return scores(scorer, candidates, 10);
  }

  private static double[] scores(Scorer scorer, TestCandidates candidates, int blocks) {
    double[] scores = new double[candidates.size()];
    java.util.Arrays.fill(scores, 77);
    scorer.score(new TestRequest(1, blocks), candidates, scores);
    return scores;
  }
}
