package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.children.Labels;
import io.fairlead.operator.observe.Ownership;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import io.fairlead.operator.testing.RefusingWebhook;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** An admission webhook that hangs for the pools of one namespace, of which there are many. */
@ExtendWith(KubeApi.class)
class HangingNamespaceIT {
  private static final PatchContext AS_THE_OPERATOR =
      new PatchContext.Builder()
          .withPatchType(PatchType.SERVER_SIDE_APPLY)
          .withFieldManager(Ownership.FIELD_MANAGER)
          .build();

  /** More than are looked at at a time. */
  private static final int POOLS = 40;

  private static final String NAME = "hanging.example.test";

  /** As long as a webhook may take. */
  private static final int HANGS_SECONDS = 30;

  /** Less than that: none that hangs has come to its end. */
  private static final Duration GOES_ON = Duration.ofSeconds(25);

  /** All have come to their ends, some after others. */
  private static final Duration ALL_END = Duration.ofSeconds(HANGS_SECONDS + 90);

  @Test
  void poolsOfOtherNamespacesGoOn(KubeApi.Running server, @TempDir Path folder)
      throws IOException, GeneralSecurityException {
    Installed cluster = Installed.on(server);
    PoolFixture hanging = new PoolFixture(cluster.admin(), cluster.namespace("hangs"));
    PoolFixture well = new PoolFixture(cluster.admin(), cluster.namespace("well"));
    AtomicInteger asked = new AtomicInteger();
    try (RefusingWebhook webhook = RefusingWebhook.hanging(folder, asked::incrementAndGet)) {
      ValidatingWebhookConfiguration hangs =
          of(webhook, hanging.namespace(), "apps", "deployments", "CREATE", "UPDATE");
      cluster.admin().resource(hangs).create();
      List<String> pools = IntStream.range(0, POOLS).mapToObj("pool-%d"::formatted).toList();
      pools.forEach(pool -> hanging.createPool(pool, pool + "-service"));
      KubernetesClient client = cluster.operator();
      Controllers operator = OperatorUnderTest.on(client, hanging, well);
      try {
        operator.start();
        await().atMost(Duration.ofSeconds(30)).until(() -> asked.get() > 0);
        well.createPool();
        await()
            .atMost(GOES_ON)
            .untilAsserted(
                () ->
                    assertThat(well.poolConditions())
                        .containsEntry("Ready", "False/RolloutInProgress"));
        assertThat(asked.get()).as("that others still wait for").isLessThan(POOLS);

        await()
            .atMost(ALL_END)
            .untilAsserted(
                () ->
                    assertThat(pools)
                        .allSatisfy(
                            pool ->
                                assertThat(PoolFixture.brief(hanging.entry(pool)))
                                    .containsEntry("Programmed", "False/APIServerError")));
        well.createPool("second", "second-service");
        await()
            .atMost(GOES_ON)
            .untilAsserted(
                () ->
                    assertThat(PoolFixture.brief(well.entry("second")))
                        .containsEntry("Ready", "False/RolloutInProgress"));

        cluster.admin().resource(hangs).delete();
        await()
            .atMost(ALL_END)
            .untilAsserted(
                () ->
                    assertThat(pools)
                        .allSatisfy(
                            pool ->
                                assertThat(PoolFixture.brief(hanging.entry(pool)))
                                    .containsEntry("Ready", "False/RolloutInProgress")));
      } finally {
        cluster.admin().resource(hangs).delete();
        operator.stop();
        client.close();
      }
    }
  }

  @Test
  void poolsOfOtherNamespacesGoOnWhereTwoHangAtOnce(KubeApi.Running server, @TempDir Path folder)
      throws IOException, GeneralSecurityException {
    Installed cluster = Installed.on(server);
    PoolFixture hanging = new PoolFixture(cluster.admin(), cluster.namespace("hangs"));
    PoolFixture other = new PoolFixture(cluster.admin(), cluster.namespace("hangs-too"));
    PoolFixture well = new PoolFixture(cluster.admin(), cluster.namespace("well"));
    AtomicInteger asked = new AtomicInteger();
    try (RefusingWebhook webhook = RefusingWebhook.hanging(folder, asked::incrementAndGet)) {
      ValidatingWebhookConfiguration hangs =
          of(webhook, hanging.namespace(), "apps", "deployments", "CREATE", "UPDATE");
      hangs
          .getWebhooks()
          .getFirst()
          .setNamespaceSelector(
              new LabelSelectorBuilder()
                  .addNewMatchExpression()
                  .withKey("kubernetes.io/metadata.name")
                  .withOperator("In")
                  .withValues(hanging.namespace(), other.namespace())
                  .endMatchExpression()
                  .build());
      cluster.admin().resource(hangs).create();
      for (int i = 0; i < POOLS; i++) {
        hanging.createPool("pool-" + i, "pool-%d-service".formatted(i));
        other.createPool("pool-" + i, "pool-%d-service".formatted(i));
      }
      othersGoOn(cluster, hanging, well, asked, other);
    }
  }

  @Test
  void statusesThatHangKeepNoOtherNamespaceWaiting(KubeApi.Running server, @TempDir Path folder)
      throws IOException, GeneralSecurityException {
    Installed cluster = Installed.on(server);
    PoolFixture hanging = new PoolFixture(cluster.admin(), cluster.namespace("hangs"));
    PoolFixture well = new PoolFixture(cluster.admin(), cluster.namespace("well"));
    AtomicInteger asked = new AtomicInteger();
    try (RefusingWebhook webhook = RefusingWebhook.hanging(folder, asked::incrementAndGet)) {
      ValidatingWebhookConfiguration hangs =
          of(webhook, hanging.namespace(), "*", "*/status", "UPDATE");
      cluster.admin().resource(hangs).create();
      for (int i = 0; i < POOLS; i++) {
        hanging.createPool("pool-" + i, "pool-%d-service".formatted(i));
        hanging.createModel("model-" + i, "model-" + i, 1, "pool-" + i);
      }
      othersGoOn(cluster, hanging, well, asked);
    }
  }

  @Test
  void deletesThatHangKeepNoOtherNamespaceWaiting(KubeApi.Running server, @TempDir Path folder)
      throws IOException, GeneralSecurityException {
    Installed cluster = Installed.on(server);
    PoolFixture hanging = new PoolFixture(cluster.admin(), cluster.namespace("hangs"));
    PoolFixture well = new PoolFixture(cluster.admin(), cluster.namespace("well"));
    AtomicInteger asked = new AtomicInteger();
    try (RefusingWebhook webhook = RefusingWebhook.hanging(folder, asked::incrementAndGet)) {
      for (int i = 0; i < POOLS; i++) {
        hanging.createPool("pool-" + i, "pool-%d-service".formatted(i));
        InferencePool pool = hanging.need(InferencePool.class, "pool-" + i);
        // What it has of an earlier time, when more pods than one were asked for.
        PodDisruptionBudget budget =
            new PodDisruptionBudgetBuilder()
                .withNewMetadata()
                .withName("pool-%d-epp".formatted(i))
                .withNamespace(hanging.namespace())
                .addToLabels(Labels.MANAGED_BY, Labels.MANAGER)
                .addNewOwnerReference()
                .withApiVersion(pool.getApiVersion())
                .withKind(pool.getKind())
                .withName(pool.getMetadata().getName())
                .withUid(pool.getMetadata().getUid())
                .withController(true)
                .endOwnerReference()
                .endMetadata()
                .withNewSpec()
                .withMaxUnavailable(new IntOrString(1))
                .endSpec()
                .build();
        cluster.admin().resource(budget).patch(AS_THE_OPERATOR);
      }
      ValidatingWebhookConfiguration hangs =
          of(webhook, hanging.namespace(), "policy", "poddisruptionbudgets", "DELETE");
      cluster.admin().resource(hangs).create();
      othersGoOn(cluster, hanging, well, asked);
    }
  }

  private static void othersGoOn(
      Installed cluster,
      PoolFixture hanging,
      PoolFixture well,
      AtomicInteger asked,
      PoolFixture... more) {
    KubernetesClient client = cluster.operator();
    Controllers operator =
        OperatorUnderTest.on(
            client,
            Stream.concat(Stream.of(hanging, well), Stream.of(more)).toArray(PoolFixture[]::new));
    try {
      operator.start();
      await().atMost(Duration.ofSeconds(30)).until(() -> asked.get() > 0);
      well.createPool();
      well.createModel("model", "model", 1);
      await()
          .atMost(GOES_ON)
          .untilAsserted(
              () -> {
                assertThat(well.poolConditions()).containsEntry("Ready", "False/RolloutInProgress");
                assertThat(well.modelConditions("model"))
                    .containsEntry("Accepted", "True/Accepted");
              });
    } finally {
      cluster
          .admin()
          .admissionRegistration()
          .v1()
          .validatingWebhookConfigurations()
          .withName(NAME)
          .delete();
      operator.stop();
      client.close();
    }
  }

  private static ValidatingWebhookConfiguration of(
      RefusingWebhook webhook,
      String namespace,
      String group,
      String resource,
      String... operations) {
    return new ValidatingWebhookConfigurationBuilder()
        .withNewMetadata()
        .withName(NAME)
        .endMetadata()
        .addNewWebhook()
        .withName(NAME)
        .withAdmissionReviewVersions("v1")
        .withSideEffects("None")
        .withTimeoutSeconds(HANGS_SECONDS)
        .withNewNamespaceSelector()
        .addToMatchLabels("kubernetes.io/metadata.name", namespace)
        .endNamespaceSelector()
        .addNewRule()
        .withApiGroups(group)
        .withApiVersions("*")
        .withOperations(operations)
        .withResources(resource)
        .endRule()
        .withNewClientConfig()
        .withUrl(webhook.url())
        .withCaBundle(webhook.certificate())
        .endClientConfig()
        .endWebhook()
        .build();
  }
}
