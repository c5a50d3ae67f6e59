package io.fairlead.lab.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.lab.workload.MixedWorkload.ModelShare;
import io.fairlead.lab.workload.MixedWorkload.Spec;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

final class MixedWorkloadTest {

  private static final Spec SPEC =
      new Spec(
          List.of(new ModelShare("chat", 3), new ModelShare("batch", 1)), 50, 4, 64, 32, 16, 0.5);

  private final MixedWorkload workload = new MixedWorkload(SPEC);

  @Test
  void sameSeedGivesTheSameRequests() {
    assertThat(workload.requests(7, 200)).isEqualTo(workload.requests(7, 200));
    assertThat(workload.requests(7, 200)).isNotEqualTo(workload.requests(8, 200));
  }

  @Test
  void keepsToItsRateAndShares() {
    List<WorkloadRequest> requests = workload.requests(1, 20_000);

    assertThat(requests).extracting(WorkloadRequest::atNanos).isSortedAccordingTo(Long::compareTo);
    assertThat(requests.getLast().atNanos() / 1e9).isCloseTo(400, within(12.0));
    assertThat(share(requests, r -> r.model().equals("chat"))).isCloseTo(0.75, within(0.02));
    assertThat(share(requests, WorkloadRequest::stream)).isCloseTo(0.5, within(0.02));
    assertThat(requests.stream().map(WorkloadRequest::system).distinct()).hasSize(4);
  }

  @Test
  void refusesWhatCanNotRun() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Spec(List.of(), 50, 4, 64, 32, 16, 0.5))
        .withMessageContaining("needs a model");
  }

  private static double share(List<WorkloadRequest> requests, Predicate<WorkloadRequest> what) {
    return (double) requests.stream().filter(what).count() / requests.size();
  }
}
