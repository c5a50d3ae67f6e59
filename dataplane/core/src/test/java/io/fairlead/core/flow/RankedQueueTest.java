package io.fairlead.core.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.flow.Waiting.Demand;
import io.fairlead.plugin.WaitingRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RankedQueueTest {

  private static final FlowQueue FLOW =
      new Band(
              0,
              2,
              new BandSettings(1, 1, 0, Limits.NONE, Limits.NONE, (now, flows) -> 0, each -> 0),
              new WaitCounters())
          .flow("f");

  private static final Comparator<Waiting> ORDER =
      Comparator.<Waiting>comparingLong(each -> each.rank).thenComparingLong(Waiting::sequence);

  private static Waiting waiting(long sequence, long rank) {
    Demand demand = new Demand(1, 1, WaitingRequest.NEVER, WaitingRequest.NEVER, false, 0);
    Waiting made = new Waiting(sequence, FLOW, demand, 0, sequence);
    made.rank = rank;
    return made;
  }

  /** Requests go from the front, and hang up anywhere; some that were taken out come back. */
  @ParameterizedTest(name = "{0} ranks, seed {1}")
  @CsvSource({"1, 1", "1, 2", "5, 3", "5, 4", "1000000, 5", "1000000, 6"})
  void theFirstIsTheOneOfTheLowestRankThatCameFirst(int ranks, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    RankedQueue queue = new RankedQueue();
    TreeSet<Waiting> model = new TreeSet<>(ORDER);
    List<Waiting> out = new ArrayList<>();
    long sequence = 0;
    for (int step = 0; step < 5_000; step++) {
      int what = random.nextInt(10);
      if (what < 5 || model.isEmpty()) {
        boolean back = random.nextInt(4) == 0 && !out.isEmpty();
        Waiting added =
            back
                ? out.remove(random.nextInt(out.size()))
                : waiting(++sequence, random.nextInt(ranks));
        queue.add(added);
        model.add(added);
        assertThat(added.inFlow).isNotNegative();
      } else {
        Waiting gone =
            what < 8
                ? model.first()
                : model.stream().skip(random.nextInt(model.size())).findFirst().orElseThrow();
        queue.remove(gone);
        model.remove(gone);
        out.add(gone);
        assertThat(gone.inFlow).isEqualTo(-1);
      }
      assertThat(queue.size()).isEqualTo(model.size());
      assertThat(queue.first()).isSameAs(model.isEmpty() ? null : model.first());
    }
  }
}
