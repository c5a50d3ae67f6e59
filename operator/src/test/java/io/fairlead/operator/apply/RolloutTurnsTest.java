package io.fairlead.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;

class RolloutTurnsTest {

  private static final long SECOND = 1_000_000_000L;

  private long now;

  private RolloutTurns turns(int most) {
    return new RolloutTurns(most, () -> now);
  }

  private static Deployment deployment(
      String uid, long generation, long observed, String revision, int available) {
    return new DeploymentBuilder()
        .withNewMetadata()
        .withUid(uid)
        .withGeneration(generation)
        .addToAnnotations("deployment.kubernetes.io/revision", revision)
        .endMetadata()
        .withNewSpec()
        .withReplicas(1)
        .endSpec()
        .withNewStatus()
        .withObservedGeneration(observed)
        .withReplicas(1)
        .withUpdatedReplicas(1)
        .withAvailableReplicas(available)
        .endStatus()
        .build();
  }

  private static Deployment ready(String uid) {
    return deployment(uid, 1, 1, "1", 1);
  }

  @Test
  void aTurnThatWasTakenIsTakenBeforeAnybodySeesTheRolloutBegin() {
    RolloutTurns turns = turns(1);
    List<Deployment> all = List.of(ready("a"), ready("b"));
    assertThat(turns.take(all.getFirst(), all)).isTrue();
    assertThat(turns.take(all.getLast(), all)).isFalse();
    assertThat(turns.take(all.getFirst(), all)).as("again, after a refused write").isTrue();
  }

  /** The informers of an operator that ends are empty, and reconciliations go on. */
  @Test
  void nobodyTakesATurnWhoIsNotSeen() {
    assertThat(turns(1).take(ready("a"), List.of())).isFalse();
    assertThat(turns(1).take(ready("a"), List.of(ready("b")))).isFalse();
  }

  @Test
  void aTurnEndsWithItsRollout() {
    RolloutTurns turns = turns(1);
    List<Deployment> all = List.of(ready("a"), ready("b"));
    assertThat(turns.take(all.getFirst(), all)).isTrue();
    for (Deployment rolling :
        List.of(
            deployment("a", 2, 1, "1", 1),
            deployment("a", 2, 2, "2", 0),
            deployment("a", 3, 2, "2", 1))) {
      assertThat(turns.take(ready("b"), List.of(rolling, ready("b")))).isFalse();
    }
    assertThat(turns.take(ready("b"), List.of(deployment("a", 3, 3, "2", 1), ready("b")))).isTrue();
  }

  @Test
  void anOperatorThatHasJustStartedSeesWhatIsUnderWay() {
    Deployment failing = deployment("a", 2, 2, "2", 0);
    assertThat(turns(1).take(ready("b"), List.of(failing, ready("b")))).isFalse();
    assertThat(turns(2).take(ready("b"), List.of(failing, ready("b")))).isTrue();
  }

  @Test
  void aRolloutThatKubernetesGivesUpGivesItsTurnBack() {
    Deployment failing = deployment("a", 2, 2, "2", 0);
    RolloutTurns turns = turns(1);
    assertThat(turns.take(ready("a"), List.of(ready("a"), ready("b")))).isTrue();
    assertThat(turns.take(ready("b"), List.of(failing, ready("b")))).isFalse();
    Deployment givenUp =
        new DeploymentBuilder(failing)
            .editStatus()
            .addNewCondition()
            .withType("Progressing")
            .withStatus("False")
            .withReason("ProgressDeadlineExceeded")
            .endCondition()
            .endStatus()
            .build();
    assertThat(turns.take(ready("b"), List.of(givenUp, ready("b")))).isTrue();
  }

  @Test
  void aRolloutThatWasStoppedByHandOrIsBeingDeletedHoldsNobodyUp() {
    Deployment failing = deployment("a", 2, 2, "2", 0);
    Deployment stopped =
        new DeploymentBuilder(failing).editSpec().withPaused(true).endSpec().build();
    Deployment going =
        new DeploymentBuilder(failing)
            .editMetadata()
            .withDeletionTimestamp("2026-01-01T00:00:00Z")
            .endMetadata()
            .build();
    for (Deployment other : List.of(stopped, going)) {
      assertThat(turns(1).take(ready("b"), List.of(other, ready("b")))).isTrue();
    }
  }

  @Test
  void theFirstPodsOfAPickerTakeNoTurnNorDoesOneThatIsGone() {
    Deployment starting = deployment("a", 1, 1, "1", 0);
    assertThat(turns(1).take(ready("b"), List.of(starting, ready("b")))).isTrue();
    RolloutTurns turns = turns(1);
    assertThat(turns.take(ready("a"), List.of(ready("a"), ready("b")))).isTrue();
    assertThat(turns.take(ready("b"), List.of(ready("b")))).isTrue();
  }

  /** An admission policy refuses the write, again and again, or a webhook undoes what it says. */
  @Test
  void aTurnThatLeadsToNoRolloutIsGivenBack() {
    RolloutTurns turns = turns(1);
    List<Deployment> all = List.of(ready("a"), ready("b"));
    for (int i = 0; i < 10; i++) {
      assertThat(turns.take(ready("a"), all)).isTrue();
      now += SECOND;
    }

    assertThat(turns.take(ready("b"), all)).isTrue();
    assertThat(turns.take(ready("a"), all)).as("it waits as anybody does").isFalse();
    now += 11 * SECOND;
    assertThat(turns.take(ready("a"), all)).isTrue();
  }

  /** Its node is full, or its image is gone: that is no rollout, and no deadline ends it. */
  @Test
  void aPickerThatLostItsPodsLaterHoldsNobodyUp() {
    Deployment lost =
        new DeploymentBuilder(deployment("a", 2, 2, "2", 0))
            .editStatus()
            .addNewCondition()
            .withType("Progressing")
            .withStatus("True")
            .withReason("NewReplicaSetAvailable")
            .endCondition()
            .endStatus()
            .build();
    assertThat(turns(1).take(ready("b"), List.of(lost, ready("b")))).isTrue();

    Deployment replaced =
        new DeploymentBuilder(lost).editStatus().withReplicas(2).endStatus().build();
    assertThat(turns(1).take(ready("b"), List.of(replaced, ready("b")))).isFalse();
  }
}
