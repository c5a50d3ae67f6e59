package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceConversionBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersionBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import io.fairlead.operator.testing.Silent;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Locale;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Kinds beside the pool's own that the API server fails to list, on one of its own: they are stored
 * in a version that only a webhook can convert, which is not there.
 */
class UnreadableKindsIT {
  private static final String GROUP = "inference.networking.x-k8s.io";

  /** A rewrite in a version that the kind does not have yet. */
  private static final String MORE =
      """
      apiVersion: %s/v1alpha3
      kind: InferenceModelRewrite
      metadata: {name: more}
      spec:
        poolRef: {name: pool}
        rules: [{matches: [{model: {value: more}}], targets: [{modelRewrite: more-v2}]}]
      """
          .formatted(GROUP);

  /** An informer that failed tries again at growing intervals. */
  private static final Duration SEEN = Duration.ofSeconds(90);

  private KubeApi.Running server;

  @BeforeEach
  void startServer() {
    server = KubeApi.Running.start();
  }

  @AfterEach
  void stopServer() {
    server.close();
  }

  @Test
  void anOperatorThatComesWhileAKindFailsServesPoolsWithWhatWasInForce() {
    Installed cluster = Installed.on(server);
    Crds.upstream(cluster.admin(), GROUP);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("unreadable"));
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.createUpstream(GROUP);
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.awaitPool("Accepted", "True/Accepted");
      await()
          .atMost(SEEN)
          .untilAsserted(() -> assertThat(pool.config()).contains("batch", "talk-v2"));
    }
    failToList(cluster, pool, "InferenceModelRewrite", MORE);
    pool.delete(InferenceModel.class, "chat");
    pool.createModel("sum", "sum", 90);
    pool.delete(Service.class, "picker-service");

    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () -> {
                assertThat(pool.get(Service.class, "picker-service")).isNotNull();
                assertThat(pool.config())
                    .contains("sum", "batch", "talk-v2")
                    .as("no rewrite can be what this model is")
                    .doesNotContain("chat");
                assertThat(pool.poolConditions())
                    .containsEntry("UpstreamKindsRead", "False/APIServerError")
                    .containsEntry("Accepted", "True/Accepted");
              });
      assertThat(pool.poolMessage("UpstreamKindsRead"))
          .contains("InferenceModelRewrite of " + GROUP + " cannot be listed", "stays")
          .contains("also if it was an InferenceModel's that is deleted: talk");
      pool.awaitModel("sum", "Accepted", "True/Accepted");

      cluster
          .admin()
          .genericKubernetesResources(GROUP + "/v1alpha2", "InferenceObjective")
          .inNamespace(pool.namespace())
          .withName("batch")
          .delete();
      await()
          .atMost(SEEN)
          .untilAsserted(
              () -> assertThat(pool.config()).doesNotContain("batch").contains("talk-v2"));

      mend("InferenceModelRewrite");
      await()
          .atMost(SEEN)
          .untilAsserted(
              () -> assertThat(pool.poolConditions()).doesNotContainKey("UpstreamKindsRead"));
      assertThat(pool.config()).contains("talk-v2", "more-v2");
      all(server.client(), pool, "InferenceModelRewrite").withName("split").delete();
      await()
          .atMost(SEEN)
          .untilAsserted(
              () -> assertThat(pool.config()).doesNotContain("talk-v2").contains("more-v2"));
    }
  }

  /** What pickers run is known to nobody then, and must not be replaced by less. */
  @Test
  void whatNeedsNoConfigIsPutRightAlsoWhereTheConfigIsNotKnown() {
    Installed cluster = Installed.on(server);
    Crds.upstream(cluster.admin(), GROUP);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("unknown"));
    pool.createPool();
    pool.createModel("sum", "sum", 90);
    pool.createUpstream(GROUP);
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.becomeReady();
      await().atMost(SEEN).untilAsserted(() -> assertThat(pool.config()).contains("talk-v2"));
    }
    failToList(cluster, pool, "InferenceModelRewrite", MORE);
    pool.delete(ConfigMap.class, PoolFixture.PICKER);
    pool.delete(Service.class, "picker-service");

    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () -> {
                assertThat(pool.get(Service.class, "picker-service")).isNotNull();
                assertThat(pool.poolConditions())
                    .containsEntry("Accepted", "True/Accepted")
                    .containsEntry("ResolvedRefs", "True/ResolvedRefs")
                    .containsEntry("Programmed", "False/APIServerError")
                    .containsEntry("ModelsAccepted", "Unknown/Pending")
                    .containsEntry("Ready", "False/APIServerError");
              });
      assertThat(pool.poolMessage("Programmed"))
          .contains("ConfigMap " + pool.namespace() + "/pool-epp", "InferenceModelRewrite");
      pool.awaitModel("sum", "Accepted", "Unknown/Pending");
      assertThat(pool.modelMessage("sum", "Accepted")).contains("InferenceModelRewrite");
      assertThat(pool.get(ConfigMap.class, PoolFixture.PICKER)).isNull();

      mend("InferenceModelRewrite");
      await()
          .atMost(SEEN)
          .ignoreException(NullPointerException.class)
          .untilAsserted(() -> assertThat(pool.config()).contains("sum", "talk-v2"));
      pool.awaitModel("sum", "Accepted", "True/Accepted");
    }
  }

  @Test
  void anOperatorThatComesWhileAKindHangsServesPoolsWithWhatWasInForce() throws IOException {
    Installed cluster = Installed.on(server);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("hanging"));
    Crds.upstream(cluster.admin(), GROUP);
    pool.createPool();
    pool.createUpstream(GROUP);
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.awaitPool("Accepted", "True/Accepted");
      await()
          .atMost(SEEN)
          .untilAsserted(() -> assertThat(pool.config()).contains("batch", "talk-v2"));
    }
    pool.createModel("sum", "sum", 90);
    pool.delete(Service.class, "picker-service");
    try (Silent silent = new Silent("inferenceobjectives");
        KubernetesClient client = silent.operator(cluster);
        var _ =
            new OperatorUnderTest(
                cluster, pool, OperatorUnderTest.settings(true), InstantSource.system(), client)) {
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () -> {
                assertThat(pool.get(Service.class, "picker-service")).isNotNull();
                assertThat(pool.config()).contains("sum", "batch", "talk-v2");
              });
      await()
          .atMost(SEEN)
          .untilAsserted(
              () ->
                  assertThat(pool.poolConditions())
                      .containsEntry("UpstreamKindsRead", "False/APIServerError"));
      assertThat(pool.config()).contains("sum", "batch", "talk-v2");
    }
  }

  /** What the operator can't do without: nothing is decided on less than all of it. */
  @Test
  void thatModelsCannotBeListedIsToldByWhoSawThemAndByWhoComes() {
    Installed cluster = Installed.on(server);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("models"));
    pool.createPool();
    pool.createModel("sum", "sum", 90);
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.becomeReady();
      failToList(
          cluster,
          pool,
          "InferenceModel",
          """
          apiVersion: %s/v1alpha3
          kind: InferenceModel
          metadata: {name: more}
          spec: {modelName: more, poolRef: {name: pool}}
          """
              .formatted(GROUP));
      await().atMost(SEEN).untilAsserted(() -> assertToldOfModels(pool));
    }
    cluster
        .admin()
        .resource(pool.need(InferencePool.class, PoolFixture.POOL))
        .subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\":{\"parents\":[]}}");
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      await().atMost(SEEN).untilAsserted(() -> assertToldOfModels(pool));
      mend("InferenceModel");
      await()
          .atMost(SEEN)
          .untilAsserted(
              () -> {
                pool.reportCurrent();
                assertThat(pool.poolConditions()).containsEntry("Ready", "True/Ready");
              });
      assertThat(pool.config()).contains("sum", "more");
    }
  }

  private static void assertToldOfModels(PoolFixture pool) {
    assertThat(pool.poolConditions())
        .containsEntry("Programmed", "False/APIServerError")
        .containsEntry("Ready", "False/APIServerError");
    assertThat(pool.poolMessage("Programmed")).contains("InferenceModel", "cannot be listed");
  }

  /**
   * Has the API server fail at a kind by one more object that a webhook would have to convert.
   *
   * @param object in a version that the kind does not have yet
   */
  private void failToList(Installed cluster, PoolFixture pool, String kind, String object) {
    var crds = server.client().resources(CustomResourceDefinition.class);
    CustomResourceDefinition crd = crds.withName(crd(kind)).require();
    CustomResourceDefinitionVersion old = crd.getSpec().getVersions().getFirst();
    crd =
        new CustomResourceDefinitionBuilder(crd)
            .editSpec()
            .withVersions(
                new CustomResourceDefinitionVersionBuilder(old).withStorage(false).build(),
                new CustomResourceDefinitionVersionBuilder(old).withName("v1alpha3").build())
            .withConversion(
                new CustomResourceConversionBuilder()
                    .withStrategy("Webhook")
                    .withNewWebhook()
                    .withConversionReviewVersions("v1")
                    .withNewClientConfig()
                    .withUrl("https://127.0.0.1:1/convert")
                    .endClientConfig()
                    .endWebhook()
                    .build())
            .endSpec()
            .build();
    server.client().resource(crd).update();
    await()
        .atMost(SEEN)
        .ignoreException(KubernetesClientException.class)
        .until(
            () -> {
              pool.create(object);
              return true;
            });
    // The administrator's client would ask again for half a minute each time.
    try (KubernetesClient client = cluster.operator()) {
      await().atMost(SEEN).untilAsserted(() -> fails(() -> all(client, pool, kind).list()));
      // From its cache, as informers ask, it answers for a while longer.
      ListOptions cached = new ListOptionsBuilder().withResourceVersion("0").build();
      await().atMost(SEEN).untilAsserted(() -> fails(() -> all(client, pool, kind).list(cached)));
    }
  }

  private static String crd(String kind) {
    return kind.toLowerCase(Locale.ROOT) + "s." + GROUP;
  }

  private static void fails(ThrowingCallable list) {
    assertThatThrownBy(list)
        .isInstanceOfSatisfying(
            KubernetesClientException.class,
            e -> assertThat(e.getCode()).isGreaterThanOrEqualTo(429));
  }

  private void mend(String kind) {
    var crds = server.client().resources(CustomResourceDefinition.class);
    CustomResourceDefinition crd = crds.withName(crd(kind)).require();
    crd.getSpec().setConversion(new CustomResourceConversionBuilder().withStrategy("None").build());
    server.client().resource(crd).update();
  }

  private NonNamespaceOperation<
          GenericKubernetesResource,
          GenericKubernetesResourceList,
          Resource<GenericKubernetesResource>>
      all(KubernetesClient client, PoolFixture pool, String kind) {
    return client
        .genericKubernetesResources(GROUP + "/v1alpha2", kind)
        .inNamespace(pool.namespace());
  }
}
