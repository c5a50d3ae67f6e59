package io.fairlead.operator.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.ObservationBuilder;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** When what a pod reported counts no more. */
class SilentReportsTest {
  private static final Duration LONGEST = Duration.ofMinutes(15);

  private final AtomicLong nanos = new AtomicLong();
  private final SilentReports reports = new SilentReports(LONGEST, nanos::get);

  @Test
  void aReportThatIsNotRenewedCountsNoMore() {
    assertThat(reports.of(seen(lease("a", 0)), false).left()).contains(LONGEST);
    pass(Duration.ofMinutes(14));
    assertThat(reports.of(seen(lease("a", 0)), false))
        .isEqualTo(new SilentReports.Heard(Set.of(), Optional.of(Duration.ofMinutes(1))));
    pass(Duration.ofMinutes(1));
    assertThat(reports.of(seen(lease("a", 0)), false))
        .isEqualTo(new SilentReports.Heard(Set.of("a"), Optional.empty()));
    assertThat(reports.of(seen(lease("a", 900)), false).silent()).isEmpty();
  }

  /** By when it is seen to change, and not by what the pod's clock says. */
  @Test
  void oneThatIsRenewedCountsWhateverItsClockSays() {
    for (int second : new int[] {0, 400_000, -400_000, 1}) {
      assertThat(reports.of(seen(lease("a", second)), false).silent()).isEmpty();
      pass(Duration.ofMinutes(14));
    }
  }

  @Test
  void ofSeveralPodsOnlyTheSilentOneIs() {
    reports.of(seen(lease("a", 0), lease("b", 0)), false);
    pass(Duration.ofMinutes(10));
    reports.of(seen(lease("a", 0), lease("b", 1)), false);
    pass(Duration.ofMinutes(5));
    assertThat(reports.of(seen(lease("a", 0), lease("b", 1)), false))
        .isEqualTo(new SilentReports.Heard(Set.of("a"), Optional.of(Duration.ofMinutes(10))));
  }

  /** As pickers of releases before did, and those that report nothing yet. */
  @Test
  void whoSaysNothingOfRenewalsIsBelieved() {
    reports.of(seen(lease("a", null)), false);
    pass(Duration.ofDays(1));
    assertThat(reports.of(seen(lease("a", null)), false))
        .isEqualTo(new SilentReports.Heard(Set.of(), Optional.empty()));
  }

  @Test
  void whoHearsNothingCallsNobodySilent() {
    reports.of(seen(lease("a", 0)), false);
    pass(Duration.ofMinutes(10));
    reports.of(seen(lease("a", 0)), true);
    pass(Duration.ofMinutes(10));
    assertThat(reports.of(seen(lease("a", 0)), false).left()).contains(LONGEST);
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  private static Observation seen(Lease... leases) {
    InferencePool pool = new InferencePool();
    pool.setMetadata(
        new ObjectMetaBuilder().withName("pool").withNamespace("ns").withUid("uid").build());
    return ObservationBuilder.of(pool)
        .pods(List.of(pod("a"), pod("b")))
        .leases(List.of(leases))
        .build();
  }

  private static Pod pod(String name) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withUid("uid-" + name)
        .endMetadata()
        .build();
  }

  private static Lease lease(String pod, @Nullable Integer renewed) {
    ZonedDateTime at =
        renewed == null
            ? null
            : ZonedDateTime.of(2026, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC).plusSeconds(renewed);
    return new LeaseBuilder()
        .withNewMetadata()
        .withName(pod)
        .addNewOwnerReference()
        .withUid("uid-" + pod)
        .endOwnerReference()
        .endMetadata()
        .withNewSpec()
        .withRenewTime(at)
        .endSpec()
        .build();
  }
}
