package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.POOL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Makes;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A pool that is being deleted, and that a finalizer of somebody else's keeps. */
@Makes({Reason.POOL_TERMINATING, Reason.TERMINATING})
class TerminatingIT extends OperatorWithPool {
  private static final String FINALIZER = "example.test/keep";

  TerminatingIT() {
    super("terminating", true);
  }

  @Test
  void aPoolThatIsKeptTellsWhatKeepsItUntilItIsGone() {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    finalizers("[\"" + FINALIZER + "\"]");
    pool.awaitPool("Ready", "False/RolloutInProgress");
    pool.awaitPickerCarriedOut();
    pool.becomeReady();
    pool.awaitModel("chat", "Programmed", "True/Programmed");

    pool.delete(InferencePool.class, POOL);
    // One that comes sooner may be seen before it is seen that the pool goes.
    pool.awaitPool("Ready", "False/PoolTerminating");
    pool.createModel("sum", "sum", 10);
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              assertThat(pool.poolConditions())
                  .containsEntry("Accepted", "True/Accepted")
                  .containsEntry("ResolvedRefs", "True/ResolvedRefs")
                  .containsEntry("Programmed", "False/PoolTerminating")
                  .containsEntry("Ready", "False/PoolTerminating");
              assertThat(pool.pickerConditions("mine"))
                  .containsEntry("Accepted", "True/Accepted")
                  .containsEntry("ResolvedRefs", "True/ResolvedRefs")
                  .containsEntry("Ready", "False/PoolTerminating");
              for (String model : new String[] {"chat", "sum"}) {
                assertThat(pool.modelConditions(model))
                    .containsEntry("ResolvedRefs", "False/PoolTerminating")
                    .containsEntry("Ready", "False/PoolTerminating");
              }
            });
    assertThat(pool.poolMessage("Ready")).contains(FINALIZER, "metadata.finalizers");
    assertThat(pool.modelMessage("chat", "Ready")).contains(FINALIZER);
    assertThat(pool.pickerMessage("mine", "Ready")).contains(FINALIZER);
    assertThat(pool.need(EndpointPicker.class, "mine").getStatus().readyReplicas()).isOne();
    assertThat(pool.config()).as("serves as it did").contains("chat").doesNotContain("sum");

    editOf("mine");

    pool.awaitEventsSent();
    int writes = operator.writes().size();
    pool.delete(Service.class, "picker-service");
    int seen = operator.reconciled("InferencePool/pool");
    pool.touchAll(1);
    operator.awaitReconciled("InferencePool/pool", seen + 1);
    assertThat(pool.get(Service.class, "picker-service")).as("nothing is made").isNull();
    assertThat(operator.writes()).as("nor told twice").hasSize(writes);
    assertThat(pool.all(Event.class))
        .extracting(Event::getReason)
        .filteredOn(Reason.POOL_TERMINATING.wireName()::equals)
        .as("once of pool, picker and each model")
        .hasSize(4);

    finalizers("null");
    pool.awaitModel("chat", "Ready", "False/PoolNotFound");
    pool.awaitModel("sum", "Ready", "False/PoolNotFound");
    pool.awaitPicker("mine", "Accepted", "Unknown/Pending");
  }

  /** Of which nothing is carried out: what is counted stays that of the generation before. */
  private void editOf(String picker) {
    EndpointPicker before = pool.need(EndpointPicker.class, picker);
    EndpointPicker edited =
        cluster
            .admin()
            .resource(before)
            .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"replicas\":7}}");
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(pool.need(EndpointPicker.class, picker).getStatus().conditions())
                    .filteredOn(condition -> condition.getType().equals("Ready"))
                    .extracting(Condition::getObservedGeneration)
                    .containsExactly(edited.getMetadata().getGeneration()));
    assertThat(pool.need(EndpointPicker.class, picker).getStatus().observedGeneration())
        .isEqualTo(before.getMetadata().getGeneration());
  }

  @Test
  void aPickerThatIsKeptSaysThatItCountsNoLonger() {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.createModel("sum", "sum", 10);
    pool.awaitPickerCarriedOut();
    pool.becomeReady();
    pool.awaitModel("chat", "Ready", "True/Ready");
    keep(EndpointPicker.class, "mine", "[\"" + FINALIZER + "\"]");
    keep(InferenceModel.class, "chat", "[\"" + FINALIZER + "\"]");

    pool.delete(InferenceModel.class, "chat");
    pool.awaitModel("chat", "Ready", "False/Terminating");
    pool.awaitModel("chat", "Accepted", "False/Terminating");
    assertThat(pool.modelMessage("chat", "Ready")).contains(FINALIZER, "metadata.finalizers");
    assertThat(pool.config()).contains("sum").doesNotContain("chat");
    pool.awaitPool("ModelsAccepted", "True/AllAccepted");

    pool.delete(EndpointPicker.class, "mine");
    pool.awaitPicker("mine", "Ready", "False/Terminating");
    pool.awaitPicker("mine", "Accepted", "False/Terminating");
    assertThat(pool.pickerMessage("mine", "Ready"))
        .contains("EndpointPicker mine is being deleted", FINALIZER, "counts no longer");
    await()
        .untilAsserted(
            () -> assertThat(pool.poolMessage("Accepted")).contains("served with defaults"));

    awaitLookedAt(1); // by which all is written that the picker's end brings
    pool.awaitEventsSent();
    int writes = operator.writes().size();
    awaitLookedAt(2);
    assertThat(operator.writes()).as("nor told twice").hasSize(writes);
    keep(EndpointPicker.class, "mine", "null");
    keep(InferenceModel.class, "chat", "null");
  }

  /** Nobody serves its pool any more, and what was said of it while it was there is old. */
  @Test
  void whatIsKeptAndHasLostItsPoolSaysSo() {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.awaitPickerCarriedOut();
    pool.becomeReady();
    pool.awaitModel("chat", "Ready", "True/Ready");
    keep(EndpointPicker.class, "mine", "[\"" + FINALIZER + "\"]");
    keep(InferenceModel.class, "chat", "[\"" + FINALIZER + "\"]");

    pool.delete(InferencePool.class, POOL);
    pool.awaitPicker("mine", "Accepted", "Unknown/Pending");
    pool.delete(EndpointPicker.class, "mine");
    pool.delete(InferenceModel.class, "chat");
    pool.awaitPicker("mine", "Ready", "False/Terminating");
    assertThat(pool.pickerMessage("mine", "Accepted"))
        .contains("EndpointPicker mine is being deleted", FINALIZER)
        .doesNotContain("create it");
    pool.awaitModel("chat", "Ready", "False/Terminating");
    keep(EndpointPicker.class, "mine", "null");
    keep(InferenceModel.class, "chat", "null");
  }

  /** As most that a finalizer is on are. */
  @Test
  void aPoolThatIsGoneInAMomentIsNotToldOf() {
    pool.createPool();
    pool.becomeReady();
    finalizers("[\"" + FINALIZER + "\"]");
    int seen = operator.reconciled("InferencePool/pool");
    long begun = System.nanoTime();
    pool.delete(InferencePool.class, POOL);
    operator.awaitReconciled("InferencePool/pool", seen + 1);
    finalizers("null");
    await().until(() -> pool.get(InferencePool.class, POOL) == null);
    pool.awaitEventsSent();
    assumeThat(Duration.ofNanos(System.nanoTime() - begun))
        .as("else it was more than a moment, on a machine that stood still")
        .isLessThan(Duration.ofSeconds(5));
    assertThat(pool.all(Event.class))
        .extracting(Event::getReason)
        .doesNotContain(Reason.POOL_TERMINATING.wireName());
  }

  private void awaitLookedAt(int touched) {
    int seen = operator.reconciled("InferencePool/pool");
    pool.touchAll(touched);
    operator.awaitReconciled("InferencePool/pool", seen + 1);
  }

  private void finalizers(String list) {
    keep(InferencePool.class, POOL, list);
  }

  private <T extends HasMetadata> void keep(Class<T> kind, String name, String list) {
    cluster
        .admin()
        .resources(kind)
        .inNamespace(pool.namespace())
        .withName(name)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\":{\"finalizers\":%s}}".formatted(list));
  }
}
