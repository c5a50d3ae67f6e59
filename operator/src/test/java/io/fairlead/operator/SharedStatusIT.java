package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.POOL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.InferencePoolStatus;
import io.fairlead.crds.v1.ParentReference;
import io.fairlead.crds.v1.ParentStatus;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.crds.v1alpha2.InferenceModelStatus;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code InferencePool.status.parents} is a list that gateways write, too. */
@ExtendWith(KubeApi.class)
class SharedStatusIT {
  private static final int MOST = 32;

  /** Of each of three others: {@code -Dfairlead.operator.parents=1000} is the long one. */
  private static final int WRITES = Integer.getInteger("fairlead.operator.parents", 60);

  private Installed cluster;
  private PoolFixture pool;
  private OperatorUnderTest operator;

  @BeforeEach
  void start(KubeApi.Running server) {
    cluster = Installed.on(server);
    pool = new PoolFixture(cluster.admin(), cluster.namespace("parents"));
    operator = new OperatorUnderTest(cluster, pool, true);
  }

  @AfterEach
  void stop() {
    operator.close();
  }

  @Test
  void allWhoWriteAtOnceAreThereAtTheEnd() {
    pool.createPool();
    pool.becomeReady();
    List<CompletableFuture<Void>> others =
        IntStream.range(0, 3)
            .mapToObj(
                other ->
                    CompletableFuture.runAsync(
                        () -> {
                          for (int i = 0; i < WRITES; i++) {
                            write("other-" + other, i);
                          }
                        },
                        // Not in the common pool, in which the client's answers arrive.
                        task -> Thread.ofVirtual().start(task)))
            .toList();
    for (int i = 0; others.stream().anyMatch(other -> !other.isDone()); i++) {
      if (i % 2 == 0) {
        pool.becomeUnavailable();
        pool.awaitPool("Ready", "False/NoReadyReplicas");
      } else {
        pool.becomeAvailableAgain();
        pool.makePodReady();
        pool.awaitPool("Ready", "True/Ready");
      }
    }
    others.forEach(CompletableFuture::join);
    List<ParentStatus> parents = parents();
    assertThat(parents)
        .extracting(ParentStatus::controllerName)
        .containsExactlyInAnyOrder(
            "example.test/other-0",
            "example.test/other-1",
            "example.test/other-2",
            "fairlead.io/operator");
    assertThat(parents)
        .filteredOn(parent -> String.valueOf(parent.controllerName()).startsWith("example.test/"))
        .as("what each wrote last")
        .allSatisfy(
            parent ->
                assertThat(parent.conditions())
                    .singleElement()
                    .satisfies(
                        condition ->
                            assertThat(condition.getMessage()).isEqualTo("" + (WRITES - 1))));
  }

  /** It takes each entry of its own name for its own, of whichever kind that is. */
  @Test
  void aGatewayOfThePickersNameDoesNotTakeOurEntryForItsOwn() {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.becomeReady();
    assertThat(namesOfOurs()).containsExactly("mine");
    change(old -> List.of(entry("mine", 1)));
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(namesOfOurs()).containsExactly("pool-epp"));
    pool.awaitPool("Ready", "True/Ready");
    assertThat(parents()).contains(entry("mine", 1)).hasSize(2);
  }

  private List<String> namesOfOurs() {
    return parents().stream()
        .filter(SharedStatusIT::ours)
        .map(parent -> Objects.requireNonNull(parent.parentRef()).name())
        .toList();
  }

  /** The wire takes eight: more would be refused, and the model say for ever what was so before. */
  @Test
  void aModelWithManyConditionsOfOthersIsToldAsFarAsThereIsRoom() {
    pool.createModel("chat", "chat", 90);
    pool.createPool();
    pool.becomeReady();
    pool.awaitModel("chat", "Ready", "True/Ready");
    addConditions(2);
    edit("[{\"name\":\"a\"},{\"name\":\"a\"}]");
    pool.awaitModel("chat", "Ready", "False/InvalidSpec");
    assertThat(pool.modelConditions("chat"))
        .containsKeys("Theirs0", "Theirs1", "Accepted", "Stalled", "TargetsAvailable");

    edit("[{\"name\":\"a\"}]");
    pool.awaitPool("ModelsAccepted", "True/AllAccepted");
    pool.reportCurrent();
    pool.awaitModel("chat", "Ready", "True/Ready");
  }

  private void edit(String targets) {
    cluster
        .admin()
        .resource(pool.need(InferenceModel.class, "chat"))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"targetModels\":%s}}".formatted(targets));
  }

  /** Another controller tells of the model in types of its own. */
  private void addConditions(int count) {
    InferenceModel theirs = new InferenceModel();
    theirs.setMetadata(
        new ObjectMetaBuilder().withName("chat").withNamespace(pool.namespace()).build());
    theirs.setStatus(
        new InferenceModelStatus(
            IntStream.range(0, count)
                .mapToObj(
                    i ->
                        new ConditionBuilder()
                            .withType("Theirs" + i)
                            .withStatus("True")
                            .withReason("Theirs")
                            .withMessage("")
                            .withLastTransitionTime("2026-01-01T00:00:00Z")
                            .build())
                .toList()));
    cluster
        .admin()
        .resource(theirs)
        .subresource("status")
        .patch(
            new PatchContext.Builder()
                .withPatchType(PatchType.SERVER_SIDE_APPLY)
                .withFieldManager("theirs")
                .withForce(true)
                .build());
  }

  @Test
  void aListThatIsFullOfOthersIsLeftToThem() {
    operator.close();
    pool.createPool();
    change(old -> IntStream.range(0, MOST).mapToObj(i -> entry("other-" + i, 0)).toList());
    operator = new OperatorUnderTest(cluster, pool, true);
    pool.createModel("chat", "chat", 90);
    pool.awaitModel("chat", "Accepted", "True/Accepted");
    operator.awaitReconciled("InferencePool/" + POOL, 1);
    assertThat(parents()).hasSize(MOST).noneMatch(SharedStatusIT::ours);
    pool.createModel("sum", "sum", 90);
    pool.awaitModel("sum", "Accepted", "True/Accepted");
    await()
        .untilAsserted(
            () ->
                assertThat(pool.all(Event.class))
                    .filteredOn(event -> event.getReason().equals("NoRoomForStatusEntry"))
                    .singleElement()
                    .satisfies(event -> assertThat(event.getType()).isEqualTo("Warning"))
                    .satisfies(event -> assertThat(event.getMessage()).contains("32 entries")));
    for (int i = 0; i < 8; i++) {
      String model = "more-" + i;
      pool.createModel(model, model, 90);
      pool.awaitModel(model, "Accepted", "True/Accepted");
    }
    assertThat(pool.all(Event.class))
        .as("nobody has removed an entry that was never there")
        .noneMatch(event -> event.getReason().equals("StatusEntryRemoved"));

    change(old -> old.subList(1, MOST));
    await().until(() -> parents().stream().anyMatch(SharedStatusIT::ours));
    assertThat(parents()).hasSize(MOST);
  }

  /** As a backup brings one back: whoever waits for all entries to be well would wait for ever. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void ofSeveralEntriesInOurNameOneIsLeft(boolean first) {
    pool.createPool();
    pool.awaitPool("Accepted", "True/Accepted");
    ParentStatus stale =
        new ParentStatus(
            new ParentReference("fairlead.io", "EndpointPicker", null, "gone"),
            "fairlead.io/operator",
            entry("any", 0).conditions());
    change(
        old -> {
          List<ParentStatus> all = new ArrayList<>(old);
          all.add(entry("other", 1));
          all.add(first ? 0 : all.size(), stale);
          return all;
        });
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(parents())
                    .hasSize(2)
                    .filteredOn(SharedStatusIT::ours)
                    .extracting(ParentStatus::parentRef)
                    .containsExactly(
                        new ParentReference("fairlead.io", "EndpointPicker", null, "pool-epp")));
  }

  /** Each attempt would be taken for a removal, and after six the entry be given up for minutes. */
  @Test
  void whatCouldNotBePutBackWasRemovedOnce() {
    pool.createPool();
    pool.awaitPool("Accepted", "True/Accepted");
    List<HasMetadata> policy =
        cluster.refuse(pool.namespace(), "UPDATE", InferencePool.GROUP, "inferencepools/status");
    AuditLog.Mark mark;
    try {
      pool.awaitStatusRefused(cluster);
      mark = operator.mark();
      change(old -> List.of());
      awaitTouching(
          () ->
              operator.requests(mark).stream()
                      .filter(request -> request.resource().equals("inferencepools/status"))
                      .filter(request -> request.code() >= 400)
                      .count()
                  > 7);
    } finally {
      policy.forEach(object -> cluster.admin().resource(object).delete());
    }
    awaitTouching(() -> parents().stream().anyMatch(SharedStatusIT::ours));
    awaitOneRemoval();
    assertThat(pool.all(Event.class))
        .noneMatch(event -> event.getReason().equals("StatusEntryRemoved"));
  }

  /** Any change has the operator try again at once, instead of twice as long after each time. */
  private void awaitTouching(Callable<Boolean> condition) {
    AtomicInteger touched = new AtomicInteger();
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () -> {
              pool.touchAll(touched.incrementAndGet());
              return condition.call();
            });
  }

  /** Whoever is faster than we are makes us read the list anew, and miss our entry once more. */
  @Test
  void anEntryThatIsPutBackAfterConflictsWasRemovedOnce() {
    pool.createPool();
    pool.awaitPool("Accepted", "True/Accepted");
    operator.close();
    AtomicInteger faster = new AtomicInteger();
    operator =
        new OperatorUnderTest(
            cluster,
            pool,
            true,
            write -> {
              if (write.endsWith("/inferencepools/pool/status") && faster.getAndDecrement() > 0) {
                change(old -> List.of(entry("other", faster.get())));
              }
            });
    operator.awaitReconciled("InferencePool/" + POOL, 1);
    faster.set(4);
    change(old -> List.of());
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> parents().stream().anyMatch(SharedStatusIT::ours));
    assertThat(faster).hasNonPositiveValue();
    awaitOneRemoval();
  }

  /** It is counted when the API server has answered, which has the entry a moment before. */
  private void awaitOneRemoval() {
    await().until(() -> operator.removals() > 0);
    assertThat(operator.removals()).isEqualTo(1);
  }

  private static boolean ours(ParentStatus parent) {
    return "fairlead.io/operator".equals(parent.controllerName());
  }

  private List<ParentStatus> parents() {
    InferencePoolStatus status = pool.need(InferencePool.class, POOL).getStatus();
    return status == null ? List.of() : status.parents();
  }

  private void write(String controller, int number) {
    change(
        old -> {
          List<ParentStatus> all = new ArrayList<>(old);
          all.removeIf(
              parent -> String.valueOf(parent.controllerName()).endsWith("/" + controller));
          all.add(entry(controller, number));
          return all;
        });
  }

  /** As a gateway does that plays by the rules: what was read is written back at its version. */
  private void change(UnaryOperator<List<ParentStatus>> change) {
    while (true) {
      InferencePool there = pool.need(InferencePool.class, POOL);
      there.setStatus(
          new InferencePoolStatus(
              change.apply(there.getStatus() == null ? List.of() : there.getStatus().parents())));
      try {
        cluster.admin().resource(there).updateStatus();
        return;
      } catch (KubernetesClientException e) {
        assertThat(e.getCode()).as("somebody was faster").isEqualTo(409);
      }
    }
  }

  private static ParentStatus entry(String controller, int number) {
    return new ParentStatus(
        new ParentReference("gateway.networking.k8s.io", "Gateway", null, controller),
        "example.test/" + controller,
        List.of(
            new ConditionBuilder()
                .withType("Accepted")
                .withStatus("True")
                .withReason("Accepted")
                .withMessage("" + number)
                .withLastTransitionTime("2026-01-01T00:00:00Z")
                .build()));
  }
}
