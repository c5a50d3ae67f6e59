package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPickerStatus;
import io.fairlead.operator.children.Labels;
import io.fairlead.operator.status.Notice;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Makes;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Another controller that wants an object of the picker's otherwise, and sees each change of it.
 */
@Makes(Reason.FIELD_MANAGER_CONFLICT)
class ContendedIT extends OperatorWithPool {
  private static final String SERVICE = "picker-service";
  private static final Duration ONE_MORE = Duration.ofSeconds(10);
  private static final PatchContext THEIRS =
      new PatchContext.Builder()
          .withPatchType(PatchType.JSON_MERGE)
          .withFieldManager("their-controller")
          .build();

  private static final PatchContext APPLY =
      new PatchContext.Builder()
          .withPatchType(PatchType.SERVER_SIDE_APPLY)
          .withFieldManager("fairlead-status")
          .withForce(true)
          .build();
  private static final String OTHERWISE = "another operator sees it otherwise";
  private static final int REPAIRS_AT_ONCE = 6;

  ContendedIT() {
    super("contended", true);
  }

  @Test
  void whoUndoesAChildIsToldAndNotFoughtWithoutEnd() {
    operator.close();
    operator =
        OperatorUnderTest.paced(cluster, pool, Paces.usualBut(pace -> pace.repairs = ONE_MORE));
    pool.createPool();
    pool.becomeReady();
    int before = writes();
    long begun = System.nanoTime();
    var services = cluster.admin().services().inNamespace(pool.namespace());
    try (var _ = services.withName(SERVICE).inform(new Undoing())) {
      pool.awaitPool("Programmed", "False/FieldManagerConflict");
      pool.awaitPool("Ready", "False/FieldManagerConflict");
      assertThat(pool.poolMessage("Ready"))
          .contains(
              "Service %s/%s is changed by their-controller".formatted(pool.namespace(), SERVICE));
      for (int round = 1; round <= 9; round++) {
        int seen = operator.reconciled("InferencePool/pool");
        pool.touchAll(round);
        operator.awaitReconciled("InferencePool/pool", seen + 1);
      }
      int written = writes() - before;
      Duration fought = Duration.ofNanos(System.nanoTime() - begun);
      assertThat(written).isBetween(6, 7 + (int) fought.dividedBy(ONE_MORE));
      assertThat(pool.all(Event.class))
          .extracting(Event::getReason)
          .filteredOn(Reason.FIELD_MANAGER_CONFLICT.wireName()::equals)
          .as("nor is it told again and again")
          .hasSizeLessThanOrEqualTo(2);
    }
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () -> {
              assertThat(pool.poolConditions()).containsEntry("Ready", "True/Ready");
              assertThat(pool.need(Service.class, SERVICE).getSpec().getSelector())
                  .doesNotContainValue("theirs");
            });
  }

  /** As two operators do that serve one pool and don't agree. */
  @Test
  void whoSaysOtherwiseInAStatusIsNotAnsweredWithoutEnd() {
    operator.close();
    operator =
        OperatorUnderTest.paced(cluster, pool, Paces.usualBut(pace -> pace.repairs = ONE_MORE));
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.awaitPickerCarriedOut();
    pool.becomeReady();
    pool.awaitPicker("mine", "Ready", "True/Ready");
    int before = writes("endpointpickers/status");
    long begun = System.nanoTime();
    var pickers = cluster.admin().resources(EndpointPicker.class).inNamespace(pool.namespace());
    try (var _ = pickers.withName("mine").inform(new Contradicting())) {
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(writes("endpointpickers/status") - before)
                      .isGreaterThanOrEqualTo(REPAIRS_AT_ONCE));
      for (int round = 1; round <= 9; round++) {
        int seen = operator.reconciled("InferencePool/pool");
        pool.touchAll(round);
        operator.awaitReconciled("InferencePool/pool", seen + 1);
      }
      int written = writes("endpointpickers/status") - before;
      Duration fought = Duration.ofNanos(System.nanoTime() - begun);
      assertThat(written)
          .isLessThanOrEqualTo(REPAIRS_AT_ONCE + 1 + (int) fought.dividedBy(ONE_MORE));
    }
    pool.awaitPicker("mine", "Ready", "True/Ready");
  }

  /** Of a picker without a pool nothing else wakes the operator. */
  @Test
  void whatIsPutOffOfAPickerWithoutAPoolIsSaidInTheEnd() {
    operator.close();
    operator =
        OperatorUnderTest.paced(cluster, pool, Paces.usualBut(pace -> pace.repairs = ONE_MORE));
    pool.createPicker("lone", "{name: nowhere}");
    pool.awaitPicker("lone", "Ready", "Unknown/Pending");
    var pickers = cluster.admin().resources(EndpointPicker.class).inNamespace(pool.namespace());
    try (var _ = pickers.withName("lone").inform(new Contradicting())) {
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> writes("endpointpickers/status") >= 1 + REPAIRS_AT_ONCE);
      pool.awaitPicker("lone", "Ready", "False/Otherwise");
      pool.awaitEventsSent();
      assertThat(pool.all(Event.class))
          .filteredOn(event -> event.getInvolvedObject().getName().equals("lone"))
          .extracting(Event::getReason)
          .as("told once")
          .containsOnlyOnce(Notice.STATUS_CONTENDED.wireName());
    }
    pool.awaitPicker("lone", "Ready", "Unknown/Pending");
  }

  private int writes() {
    return writes("services");
  }

  /** What the operator wrote of a kind. */
  private int writes(String kind) {
    return (int)
        operator.writes().stream().filter(request -> request.resource().equals(kind)).count();
  }

  private static final class Contradicting implements ResourceEventHandler<EndpointPicker> {
    @Override
    public void onAdd(EndpointPicker picker) {
      contradict(picker);
    }

    @Override
    public void onUpdate(EndpointPicker before, EndpointPicker picker) {
      contradict(picker);
    }

    @Override
    public void onDelete(EndpointPicker picker, boolean unknown) {}

    private static void contradict(EndpointPicker picker) {
      if (picker.getStatus().conditions().stream()
          .noneMatch(condition -> condition.getMessage().equals(OTHERWISE))) {
        EndpointPicker theirs = new EndpointPicker();
        theirs.setMetadata(
            new ObjectMetaBuilder()
                .withName(picker.getMetadata().getName())
                .withNamespace(picker.getMetadata().getNamespace())
                .build());
        theirs.setStatus(
            new EndpointPickerStatus(
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                List.of(
                    new ConditionBuilder()
                        .withType("Ready")
                        .withStatus("False")
                        .withReason("Otherwise")
                        .withMessage(OTHERWISE)
                        .withLastTransitionTime("2026-01-01T00:00:00Z")
                        .build())));
        cluster.admin().resource(theirs).subresource("status").patch(APPLY);
      }
    }
  }

  private static final class Undoing implements ResourceEventHandler<Service> {
    @Override
    public void onAdd(Service service) {
      undo(service);
    }

    @Override
    public void onUpdate(Service before, Service service) {
      undo(service);
    }

    @Override
    public void onDelete(Service service, boolean unknown) {}

    private static void undo(Service service) {
      if (!service.getSpec().getSelector().containsValue("theirs")) {
        cluster
            .admin()
            .resource(service)
            .patch(
                THEIRS, "{\"spec\":{\"selector\":{\"%s\":\"theirs\"}}}".formatted(Labels.PICKER));
      }
    }
  }
}
