package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fairlead.operator.children.Labels;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Makes;
import java.time.Duration;
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
      for (int round = 1; round <= 3; round++) {
        int seen = operator.reconciled("InferencePool/pool");
        pool.touchAll(round);
        operator.awaitReconciled("InferencePool/pool", seen + 3);
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

  /** What the operator wrote of the Service. */
  private int writes() {
    return (int)
        operator.writes().stream().filter(request -> request.resource().equals("services")).count();
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
