package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.children.PickerImage;
import io.fairlead.operator.observe.Adoption;
import io.fairlead.operator.reconcile.Settings;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** An operator of another release, whose pickers have another image, replaces them one by one. */
@ExtendWith(KubeApi.class)
@Makes(Reason.WAITING_FOR_TURN)
class StaggeredIT {
  private static final String OLD = "example.test/epp:1";
  private static final String NEW = "example.test/epp:2";
  private static final List<String> POOLS = List.of("a", "b", "c", "d");

  @Test
  void anUpgradeReplacesSoManyPickersAtATimeAndWhatFailsHoldsThemUntilItIsGivenUp(
      KubeApi.Running server) {
    Installed cluster = Installed.on(server);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("staggered"));
    try (var _ = operator(cluster, pool, OLD)) {
      POOLS.forEach(name -> pool.createPool(name, name + "-service"));
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> POOLS.stream().allMatch(name -> deployment(pool, name) != null));
    }
    POOLS.forEach(name -> rolledOut(cluster, pool, name, "1", true));

    String second;
    String third;
    String fourth;
    try (OperatorUnderTest operator = operator(cluster, pool, NEW)) {
      await().atMost(Duration.ofSeconds(30)).until(() -> !renewed(pool).isEmpty());
      List<String> waiting = POOLS.stream().filter(name -> !renewed(pool).contains(name)).toList();
      for (String name : waiting) {
        operator.awaitReconciled(
            "InferencePool/" + name, operator.reconciled("InferencePool/" + name) + 1);
      }
      assertThat(renewed(pool)).as("one at a time").hasSize(1);
      String first = renewed(pool).getFirst();
      rolledOut(cluster, pool, first, "2", true);
      await().atMost(Duration.ofSeconds(30)).until(() -> renewed(pool).size() == 2);

      second = renewed(pool).stream().filter(name -> !name.equals(first)).findFirst().orElseThrow();
      List<String> left = POOLS.stream().filter(name -> !renewed(pool).contains(name)).toList();
      third = left.getFirst();
      fourth = left.getLast();
      rolledOut(cluster, pool, second, "2", false);
      int seen = operator.reconciled("InferencePool/" + third);
      operator.awaitReconciled("InferencePool/" + third, seen + 2);
      assertThat(renewed(pool)).as("what fails keeps its place").hasSize(2);
      for (String name : left) {
        awaitCondition(pool, name, "UpToDate", "False/WaitingForTurn");
        await()
            .atMost(Duration.ofSeconds(30))
            .untilAsserted(
                () ->
                    assertThat(waitsToldOf(pool, name))
                        .singleElement()
                        .satisfies(event -> assertThat(event.getType()).isEqualTo("Normal"))
                        .satisfies(
                            event ->
                                assertThat(event.getMessage())
                                    .contains("Deployment " + name + "-epp", "--max-rollouts")));
      }
      assertThat(PoolFixture.brief(pool.entry(first))).doesNotContainKey("UpToDate");
    }

    try (OperatorUnderTest operator = operator(cluster, pool, NEW)) {
      for (String name : List.of(third, fourth)) {
        operator.awaitReconciled("InferencePool/" + name, 2);
        assertThat(waitsToldOf(pool, name)).as("a restart is no transition").hasSize(1);
      }
      assertThat(renewed(pool)).as("after a restart in the middle").hasSize(2);

      pool.create(
          """
          apiVersion: fairlead.io/v1alpha1
          kind: EndpointPicker
          metadata: {name: own}
          spec: {poolRef: {name: %s}, image: "example.test/own:3"}
          """
              .formatted(third));
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> image(pool, third).equals("example.test/own:3"));
      awaitNoCondition(pool, third, "UpToDate");
      rolledOut(cluster, pool, third, "2", true);
      int seen = operator.reconciled("InferencePool/" + fourth);
      operator.awaitReconciled("InferencePool/" + fourth, seen + 2);
      assertThat(image(pool, fourth)).as("it waits for the second still").isEqualTo(OLD);

      givenUp(cluster, pool, second);
      await().atMost(Duration.ofSeconds(30)).until(() -> image(pool, fourth).equals(NEW));
      awaitNoCondition(pool, fourth, "UpToDate");
      assertThat(image(pool, second)).as("it is not taken back").isEqualTo(NEW);
    }
  }

  private static void awaitCondition(PoolFixture pool, String name, String type, String expected) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> assertThat(PoolFixture.brief(pool.entry(name))).containsEntry(type, expected));
  }

  private static void awaitNoCondition(PoolFixture pool, String name, String type) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(PoolFixture.brief(pool.entry(name)))
                    .containsKey("Ready")
                    .doesNotContainKey(type));
  }

  private static List<Event> waitsToldOf(PoolFixture pool, String name) {
    return pool.all(Event.class).stream()
        .filter(event -> event.getInvolvedObject().getKind().equals("InferencePool"))
        .filter(event -> event.getInvolvedObject().getName().equals(name))
        .filter(event -> event.getReason().equals("WaitingForTurn"))
        .toList();
  }

  /** What the Deployment controller says when progressDeadlineSeconds are over. */
  private static void givenUp(Installed cluster, PoolFixture pool, String name) {
    cluster
        .admin()
        .resource(pool.need(Deployment.class, name + "-epp"))
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"status\":{\"conditions\":[{\"type\":\"Progressing\",\"status\":\"False\",\"reason\":\"ProgressDeadlineExceeded\",\"message\":\"timed out\"}]}}");
  }

  private static OperatorUnderTest operator(Installed cluster, PoolFixture pool, String image) {
    return new OperatorUnderTest(
        cluster,
        pool,
        new Settings(
            Adoption.ALL, Duration.ZERO, new PickerImage(image), 1, OperatorUnderTest.FAST));
  }

  private static List<String> renewed(PoolFixture pool) {
    return POOLS.stream().filter(name -> image(pool, name).equals(NEW)).toList();
  }

  private static String image(PoolFixture pool, String name) {
    return pool.image(name + "-epp");
  }

  private static @Nullable Deployment deployment(PoolFixture pool, String name) {
    return pool.get(Deployment.class, name + "-epp");
  }

  /** What the Deployment controller does: its count of revisions, and the end of a rollout. */
  private static void rolledOut(
      Installed cluster, PoolFixture pool, String name, String revision, boolean available) {
    cluster
        .admin()
        .resource(pool.need(Deployment.class, name + "-epp"))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\":{\"annotations\":{\"deployment.kubernetes.io/revision\":\"%s\"}}}"
                .formatted(revision));
    // An annotation makes another generation of a Deployment.
    Deployment there = pool.need(Deployment.class, name + "-epp");
    Deployment status =
        new DeploymentBuilder()
            .withNewStatus()
            .withObservedGeneration(there.getMetadata().getGeneration())
            .withReplicas(1)
            .withUpdatedReplicas(1)
            .withReadyReplicas(available ? 1 : 0)
            .withAvailableReplicas(available ? 1 : 0)
            .endStatus()
            .build();
    cluster
        .admin()
        .resource(there)
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            cluster
                .admin()
                .getKubernetesSerialization()
                .asJson(Map.of("status", status.getStatus())));
  }
}
