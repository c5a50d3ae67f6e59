package io.fairlead.operator.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fairlead.operator.status.Replica;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlowStartsTest {
  private static final Instant BEGAN = Instant.parse("2026-01-01T00:00:00Z");
  private static final Duration USUAL = SlowStarts.USUAL;

  /** Fifteen seconds are promised, with what the kubelet and the operator need themselves. */
  @Test
  void aPickerHasAsLongAsAStartTakes() {
    List<Replica> begins = List.of(running("a", "epp", false));
    SlowStarts.Judged soon = SlowStarts.judge(begins, BEGAN.plusSeconds(10));
    assertThat(soon.slow()).as("a slow node").isEmpty();
    assertThat(soon.again()).hasValue(USUAL.minusSeconds(10));

    SlowStarts.Judged told = SlowStarts.judge(begins, BEGAN.plusSeconds(13));
    assertThat(told.slow()).containsExactly("a");
    assertThat(told.again()).isEmpty();
  }

  @Test
  void eachPodHasItsOwnTime() {
    Replica later = running("later", "epp", false);
    later
        .pod()
        .getStatus()
        .getContainerStatuses()
        .getFirst()
        .getState()
        .getRunning()
        .setStartedAt("2026-01-01T00:00:09Z");
    SlowStarts.Judged judged =
        SlowStarts.judge(List.of(running("a", "epp", false), later), BEGAN.plus(USUAL));
    assertThat(judged.slow()).containsExactly("a");
    assertThat(judged.again()).hasValue(Duration.ofSeconds(9));
  }

  /** A node whose clock is ahead would have it looked at who knows when. */
  @Test
  void aClockThatIsAheadPutsTheNextLookOffByNoMoreThanAStart() {
    assertThat(
            SlowStarts.judge(List.of(running("a", "epp", false)), BEGAN.minusSeconds(3_600))
                .again())
        .hasValue(USUAL);
  }

  /** A sidecar may load a model, and one that leaves or has not begun is not starting. */
  @Test
  void onlyAPickerThatStartsIsSlow() {
    Replica leaving = running("leaving", "epp", false);
    leaving.pod().getMetadata().setDeletionTimestamp("2026-01-01T00:00:00Z");
    Replica unborn = running("unborn", "epp", false);
    unborn.pod().getStatus().getContainerStatuses().getFirst().getState().setRunning(null);
    Replica unknown = running("unknown", "epp", false);
    unknown.pod().setStatus(null);
    List<Replica> others =
        List.of(
            running("ready", "epp", true),
            running("sidecar", "external", false),
            leaving,
            unborn,
            unknown);
    SlowStarts.Judged judged = SlowStarts.judge(others, BEGAN.plus(USUAL));
    assertThat(judged.slow()).isEmpty();
    assertThat(judged.again()).isEmpty();
  }

  private static Replica running(String pod, String container, boolean ready) {
    return Replica.of(
        new PodBuilder()
            .withNewMetadata()
            .withName(pod)
            .endMetadata()
            .withNewStatus()
            .addNewContainerStatus()
            .withName(container)
            .withReady(ready)
            .withNewState()
            .withNewRunning()
            .withStartedAt("2026-01-01T00:00:00Z")
            .endRunning()
            .endState()
            .endContainerStatus()
            .endStatus()
            .build(),
        null);
  }
}
