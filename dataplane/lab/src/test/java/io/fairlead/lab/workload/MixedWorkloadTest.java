package io.fairlead.lab.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.lab.workload.MixedWorkload.ModelShare;
import io.fairlead.lab.workload.MixedWorkload.Spec;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

final class MixedWorkloadTest {

  private static final Spec SPEC =
      new Spec(List.of(new ModelShare("chat", 3), new ModelShare("batch", 1)), 50, 4, 64, 32, 16);

  private final MixedWorkload workload = new MixedWorkload(SPEC);

  @Test
  void sameSeedGivesTheSameRequests() {
    assertThat(arrivals(7, 200)).usingRecursiveComparison().isEqualTo(arrivals(7, 200));
    assertThat(arrivals(7, 1).getFirst().atNanos())
        .isNotEqualTo(arrivals(8, 1).getFirst().atNanos());
  }

  @Test
  void keepsToItsRateAndShares() {
    List<Arrival> arrivals = arrivals(1, 20_000);

    assertThat(arrivals).extracting(Arrival::atNanos).isSortedAccordingTo(Long::compareTo);
    assertThat(arrivals.getLast().atNanos() / 1e9).isCloseTo(400, within(12.0));
    assertThat(arrivals.stream().filter(a -> a.request().model().equals("chat")).count() / 20_000.0)
        .isCloseTo(0.75, within(0.02));
    // The system prompts are all that is shared: 4 blocks of 16 tokens in each of 4 groups.
    assertThat(arrivals.stream().map(a -> a.request().blocks()[3]).distinct()).hasSize(4);
    assertThat(
            arrivals.stream()
                .filter(a -> a.request().promptBlocks() > 5)
                .map(a -> a.request().blocks()[5])
                .distinct()
                .count())
        .isEqualTo(arrivals.stream().filter(a -> a.request().promptBlocks() > 5).count());
  }

  @Test
  void refusesWhatCanNotRun() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Spec(List.of(), 50, 4, 64, 32, 16))
        .withMessageContaining("needs a model");
  }

  private List<Arrival> arrivals(long seed, int count) {
    Traffic traffic = workload.start(seed);
    List<Arrival> arrivals = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      arrivals.add(Objects.requireNonNull(traffic.next()));
    }
    return arrivals;
  }
}
