package io.fairlead.core.plugins.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.plugins.TestCandidates;
import io.fairlead.core.plugins.TestRequest;
import io.fairlead.core.view.Peers;
import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.plugin.HeaderWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NoHitLruScorerTest {

  private static final HeaderWriter NOWHERE =
      new HeaderWriter() {
        @Override
        public void request(String name, String value) {}

        @Override
        public void response(String name, String value) {}
      };

  private final TestCandidates candidates = TestCandidates.queues(0, 0, 0, 0, 0);

  @Test
  void coldPromptsGoWhereNoneWentAndThenWhereTheLastIsLongestAgo() {
    NoHitLruScorer scorer = new NoHitLruScorer(1024);
    assertThat(send(scorer, 2)).containsOnly(1);
    assertThat(send(scorer, 0)).containsExactly(1, 1, 0, 1, 1);
    assertThat(send(scorer, 4)).containsExactly(0, 1, 0.25, 1, 1);
    assertThat(send(scorer, 2)).containsExactly(0.25, 1, 0.5, 1, 0);
    assertThat(send(scorer, 1)).containsExactly(0.5, 1, 0, 1, 0.25);
    assertThat(send(scorer, 3)).containsExactly(0.75, 0, 0.25, 1, 0.5);
    assertThat(send(scorer, 3)).containsExactly(1, 0.25, 0.5, 0, 0.75);
  }

  @Test
  void warmPromptsAreNeutralAndChangeNothing() {
    NoHitLruScorer scorer = new NoHitLruScorer(1024);
    send(scorer, 2);
    candidates.endpoint(1).matched = 1;
    assertThat(send(scorer, 0)).containsOnly(0.5);
    candidates.endpoint(1).matched = 0;
    assertThat(send(scorer, 0)).containsExactly(1, 1, 0, 1, 1);
  }

  @Test
  void newProcessInASlotHasHadNoPrompt() {
    NoHitLruScorer scorer = new NoHitLruScorer(1024);
    send(scorer, 2);
    scorer.joined(candidates.get(2));
    assertThat(send(scorer, 2)).containsOnly(1);
  }

  @Test
  void whoeverComputesThePromptCountsToo() {
    NoHitLruScorer scorer = new NoHitLruScorer(1024);
    TestRequest request = new TestRequest(1, 3);
    scorer.score(request, candidates, new double[5]);
    request.put(Peers.PREFILLER, candidates.get(3));
    scorer.dispatched(request, candidates.get(0), NOWHERE);
    assertThat(send(scorer, 1)).containsExactly(0.25, 1, 1, 0, 1);
  }

  /** Against a plain list, with endpoints that come, go and are filtered out. */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void ranksAreThoseOfAPlainList(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    NoHitLruScorer scorer = new NoHitLruScorer(8);
    TestCandidates all = TestCandidates.queues(new int[12]);
    List<Integer> used = new ArrayList<>();
    for (int round = 0; round < 20_000; round++) {
      TestCandidates some = new TestCandidates();
      for (int i = 0; i < all.size(); i++) {
        if (random.nextInt(3) > 0) {
          some.add(all.endpoint(i), i);
        }
      }
      if (some.size() == 0) {
        continue;
      }
      TestRequest request = new TestRequest(round, 3);
      double[] scores = new double[some.size()];
      scorer.score(request, some, scores);
      assertThat(scores).as("round %d", round).containsExactly(expected(some, used));

      Integer chosen = PoolEndpoint.slot(some.get(random.nextInt(some.size())));
      scorer.dispatched(request, all.get(chosen), NOWHERE);
      used.removeIf(chosen::equals);
      used.add(chosen);
      if (used.size() > 8) {
        used.removeFirst();
      }
      if (random.nextInt(10) == 0) {
        Integer joined = random.nextInt(12);
        scorer.joined(all.get(joined));
        used.removeIf(joined::equals);
      }
    }
  }

  private static double[] expected(TestCandidates candidates, List<Integer> used) {
    List<Integer> ranked = new ArrayList<>(used);
    List<Integer> slots = new ArrayList<>();
    for (int i = 0; i < candidates.size(); i++) {
      slots.add(candidates.slot(i));
    }
    ranked.retainAll(slots);
    int fresh = slots.size() - ranked.size();
    return slots.stream()
        .mapToDouble(
            slot ->
                slots.size() == 1 || !ranked.contains(slot)
                    ? 1
                    : 1 - (fresh + ranked.indexOf(slot)) / (slots.size() - 1.0))
        .toArray();
  }

  private double[] send(NoHitLruScorer scorer, int to) {
    double[] scores = new double[5];
    TestRequest request = new TestRequest(1, 3);
    scorer.score(request, candidates, scores);
    scorer.dispatched(request, candidates.get(to), NOWHERE);
    return scores;
  }
}
