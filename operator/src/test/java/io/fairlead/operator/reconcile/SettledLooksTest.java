package io.fairlead.operator.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fairlead.crds.compile.UpstreamObjects;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.apply.StatusSteps;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.ObservationBuilder;
import io.fairlead.operator.reconcile.SettledLooks.Seen;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SettledLooksTest {
  private long now = Long.MAX_VALUE - 5;
  private final StatusSteps steps = new StatusSteps();
  private final SettledLooks looks = new SettledLooks(() -> now, steps);

  @Test
  void whoSeesTheSameNeedNotLook() {
    assertThat(looks.isSettled("pool", seen("a1", "b1"))).isFalse();
    looks.settled("pool", seen("a1", "b1"));
    assertThat(looks.isSettled("pool", seen("a1", "b1"))).isTrue();
    assertThat(looks.isSettled("other", seen("a1", "b1"))).isFalse();
  }

  @Test
  void whatComesChangesOrGoesIsLookedAt() {
    looks.settled("pool", seen("a1", "b1"));
    assertThat(looks.isSettled("pool", seen("a2", "b1"))).as("changed").isFalse();
    assertThat(looks.isSettled("pool", seen("a1", "b1", "c1"))).as("came").isFalse();
    assertThat(looks.isSettled("pool", seen("a1"))).as("went").isFalse();
    assertThat(looks.isSettled("pool", seen("a1", "c1"))).as("another").isFalse();
    assertThat(looks.isSettled("pool", Seen.of(observation("a1", "b1"), "more"))).isFalse();
  }

  @Test
  void theStatusThatTheLookWroteIsNothingNew() {
    steps.took("1", object("a2"));
    looks.settled("pool", seen("a1", "b1"));
    assertThat(looks.isSettled("pool", seen("a2", "b1"))).isTrue();
    assertThat(looks.isSettled("pool", seen("a1", "b1"))).as("not yet back").isTrue();
    assertThat(looks.isSettled("pool", seen("a3", "b1"))).as("edited since").isFalse();
  }

  /**
   * As when the cluster comes to have the kind in the newer group, too: no object changes by it.
   */
  @Test
  void whatCountsNoLongerIsLookedAt() {
    GenericKubernetesResource objective = new GenericKubernetesResource();
    objective.setMetadata(object("o1").getMetadata());
    looks.settled("pool", Seen.of(observation(List.of(objective), List.of())));
    assertThat(looks.isSettled("pool", Seen.of(observation(List.of(), List.of(objective)))))
        .isFalse();
    assertThat(looks.isSettled("pool", Seen.of(observation(List.of(objective), List.of()))))
        .isTrue();
  }

  /** The API server has stored an edit under the status, and the look did not see it. */
  @Test
  void aStatusThatWasWrittenToWhatTheLookDidNotSeeIsLookedAt() {
    steps.took("2", object("a3"));
    looks.settled("pool", seen("a1", "b1"));
    assertThat(looks.isSettled("pool", seen("a3", "b1"))).isFalse();
    assertThat(looks.isSettled("pool", seen("a2", "b1"))).isFalse();
  }

  @Test
  void itIsLookedAtAnewWhenSomeTimeHasPassedOrTheLookFailed() {
    looks.settled("pool", seen("a1"));
    now += SettledLooks.LASTS.toNanos();
    assertThat(looks.isSettled("pool", seen("a1"))).isFalse();
    looks.settled("pool", seen("a1"));
    looks.unsettled("pool");
    assertThat(looks.isSettled("pool", seen("a1"))).isFalse();
  }

  private static Seen seen(String... children) {
    return Seen.of(observation(children));
  }

  /**
   * @param children each a letter for the UID, and the version
   */
  private static Observation observation(String... children) {
    return observation(
        List.of(), List.of(), Stream.of(children).map(SettledLooksTest::object).toList());
  }

  private static Observation observation(
      List<GenericKubernetesResource> objectives, List<GenericKubernetesResource> superseded) {
    return observation(objectives, superseded, List.of());
  }

  private static Observation observation(
      List<GenericKubernetesResource> objectives,
      List<GenericKubernetesResource> superseded,
      List<HasMetadata> children) {
    InferencePool pool = new InferencePool();
    pool.getMetadata().setUid("pool");
    pool.getMetadata().setResourceVersion("1");
    return ObservationBuilder.of(pool)
        .upstream(new UpstreamObjects(objectives, List.of()))
        .superseded(superseded)
        .children(children)
        .build();
  }

  private static HasMetadata object(String child) {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withUid(child.substring(0, 1))
        .withResourceVersion(child.substring(1))
        .endMetadata()
        .build();
  }
}
