package io.fairlead.operator.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.operator.status.PickerFacts;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Replica;
import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HotReloadsTest {
  private static final Duration LONGEST = Settings.Pace.USUAL.reloads();
  private static final ConfigHash OLD = ConfigHash.of("old");
  private static final ConfigHash NEW = ConfigHash.of("new");
  private static final ConfigHash NEWER = ConfigHash.of("newer");

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000);
  private final HotReloads reloads = new HotReloads(LONGEST, nanos::get);

  @Test
  void pickersThatReadAnotherConfigAreWaitedForHalfASecond() {
    assertThat(left(NEW, runs(OLD), runs(NEW))).isEqualTo(LONGEST);
    pass(Duration.ofMillis(400));
    assertThat(left(NEW, runs(OLD), runs(NEW))).isEqualTo(Duration.ofMillis(100));
    pass(Duration.ofMillis(100));
    assertThat(left(NEW, runs(OLD), runs(NEW))).as("then it is told").isNull();
    assertThat(left(NEWER, runs(NEW), runs(NEW))).as("still none runs it").isNull();
    assertThat(left(NEWER, runs(NEWER), runs(NEWER))).isNull();
    assertThat(left(NEW, runs(NEWER))).as("another").isEqualTo(LONGEST);
  }

  /** Every event of its pool would put off what is told of it. */
  @Test
  void aPickerThatHangsIsWaitedForOnce() {
    assertThat(left(NEW, runs(OLD))).isEqualTo(LONGEST);
    pass(LONGEST);
    for (int i = 0; i < 20; i++) {
      assertThat(left(NEW, runs(OLD))).isNull();
      pass(Duration.ofMillis(300));
    }
  }

  @Test
  void editsThatFollowOneAnotherPutNothingOffForEver() {
    int told = 0;
    for (int i = 0; i < 20; i++) {
      told += left(ConfigHash.of("edit " + i), runs(OLD)) == null ? 1 : 0;
      pass(Duration.ofMillis(300));
    }
    assertThat(told).isGreaterThanOrEqualTo(6);
  }

  @Test
  void nobodyIsWaitedForWhoRunsItRefusesItOrHasSaidNothing() {
    assertThat(left(NEW, runs(NEW))).isNull();
    assertThat(left(NEW)).as("no picker").isNull();
    assertThat(left(NEW, report(null, null))).as("one that runs nothing").isNull();
    assertThat(left(NEW, report(OLD, new PickerReport.Refused(NEW, "why")))).isNull();
    assertThat(left(null, runs(OLD))).as("nothing to run").isNull();
    assertThat(left(NEW, report(OLD, new PickerReport.Refused(OLD, "why"))))
        .as("it refused what was before")
        .isEqualTo(LONGEST);
  }

  @Test
  void aReloadThatHasEndedBeginsAnew() {
    assertThat(left(NEW, runs(OLD))).isNotNull();
    pass(Duration.ofMillis(200));
    assertThat(left(NEW, runs(NEW))).isNull();
    assertThat(left(NEW, runs(OLD))).as("a picker fell back").isEqualTo(LONGEST);
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  private @Nullable Duration left(@Nullable ConfigHash wanted, PickerReport... reports) {
    Verdict yes = Verdict.yes(Reason.ACCEPTED, "yes");
    List<Replica> replicas =
        List.of(reports).stream().map(report -> new Replica(ready(), report, null)).toList();
    PickerFacts facts =
        new PickerFacts(
            new PickerFacts.Where("ns", "epp", "app=vllm"),
            yes,
            yes,
            wanted,
            null,
            replicas,
            null,
            new PickerFacts.ModelCount(0, 0, List.of()));
    return reloads.left("pool", facts).orElse(null);
  }

  private static PickerReport runs(ConfigHash hash) {
    return report(hash, null);
  }

  private static PickerReport report(
      @Nullable ConfigHash hash, PickerReport.@Nullable Refused refused) {
    return new PickerReport("ns/pool", hash, 1, refused, new PickerReport.Endpoints(1, 1, null));
  }

  private static Pod ready() {
    return new PodBuilder()
        .withNewMetadata()
        .withName("epp")
        .endMetadata()
        .withNewStatus()
        .addNewCondition()
        .withType("Ready")
        .withStatus("True")
        .endCondition()
        .endStatus()
        .build();
  }
}
