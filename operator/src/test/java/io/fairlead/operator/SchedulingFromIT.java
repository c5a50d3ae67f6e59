package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.Picker;
import io.fairlead.operator.testing.PoolFixture;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A scheduling that is in a ConfigMap of the picker's author. */
@Makes(Reason.INVALID_SPEC)
class SchedulingFromIT extends OperatorWithPool {
  SchedulingFromIT() {
    super("scheduling", false);
  }

  @BeforeEach
  void start() {
    pool.create(
        """
        apiVersion: fairlead.io/v1alpha1
        kind: EndpointPicker
        metadata: {name: mine}
        spec: {poolRef: {name: pool}, schedulingFrom: {configMapKeyRef: {name: tuned, key: epp.yaml}}}
        """);
    pool.createPool();
  }

  @Test
  void itCountsFromTheFirstTimeThatItIsThereAndEachEditCountsAtOnce() {
    pool.awaitPool("Accepted", "False/InvalidSpec");
    assertThat(pool.poolMessage("Accepted"))
        .contains("EndpointPicker " + pool.namespace() + "/mine")
        .contains("spec.schedulingFrom.configMapKeyRef names ConfigMap tuned, which is not in")
        .contains("kubectl create configmap tuned --from-file=epp.yaml");
    assertThat(pool.get(Deployment.class, PoolFixture.PICKER)).isNull();

    put(Map.of("other.yaml", "x"));
    awaitMessage("names key epp.yaml of ConfigMap tuned, whose data has other.yaml");
    put(
        Map.of(
            "epp.yaml",
            """
            apiVersion: inference.networking.x-k8s.io/v1alpha1
            kind: EndpointPickerConfig
            plugins: [{type: queue-scorer}]
            """));
    pool.awaitPool("Accepted", "True/Accepted");
    pool.awaitPool("Ready", "False/RolloutInProgress");
    pool.becomeAvailable();
    try (Picker picker = new Picker(cluster, pool)) {
      pool.awaitPool("Programmed", "True/Programmed");
      ConfigHash good = pool.configHash();
      AuditLog.Mark mark = operator.mark();
      long generation =
          pool.need(Deployment.class, PoolFixture.PICKER).getMetadata().getGeneration();
      put(Map.of("epp.yaml", "plugins: [{type: kv-cache-utilization-scorer}]\n"));
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  !good.equals(pool.configHash())
                      && pool.configHash().equals(picker.report().configHash()));
      assertThat(pool.config()).contains("kv-cache-utilization-scorer");
      assertThat(pool.need(Deployment.class, PoolFixture.PICKER).getMetadata().getGeneration())
          .as("no pod is replaced")
          .isEqualTo(generation);
      assertThat(operator.requests(mark)).noneMatch(r -> r.resource().equals("deployments"));
    }
  }

  @Test
  void whatCannotBeCarriedOutIsToldByItsLineAndWhatWasInForceStays() {
    put(Map.of("epp.yaml", "plugins: [{type: queue-scorer}]\n"));
    pool.awaitPool("Accepted", "True/Accepted");
    ConfigHash good = pool.configHash();

    put(Map.of("epp.yaml", "plugins:\n  - type: queue-scorer\n  - type: kv-cash-scorer\n"));
    pool.awaitPool("Accepted", "False/InvalidSpec");
    assertThat(pool.poolMessage("Accepted"))
        .contains("key epp.yaml of ConfigMap tuned: line 3: plugins[1].type", "kv-cash-scorer")
        .endsWith("what was in force of it stays");
    put(Map.of("epp.yaml", "plugins: ["));
    awaitMessage("is not valid YAML");
    put(
        Map.of(
            "epp.yaml",
            "external: {service: {address: \"a:1\"}}\nplugins: [{type: queue-scorer}]\n"));
    awaitMessage("external is not taken from a ConfigMap");
    pool.delete(ConfigMap.class, "tuned");
    awaitMessage("names ConfigMap tuned, which is not in namespace");
    pool.createModel("chat", "chat", 90);
    await().until(() -> pool.config().contains("chat"));
    assertThat(pool.config()).contains("queue-scorer");

    cluster
        .admin()
        .resource(pool.need(EndpointPicker.class, "mine"))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"schedulingFrom\":null,\"scheduling\":{\"plugins\":[{\"type\":\"queue-scorer\"}]}}}");
    pool.awaitPool("Accepted", "True/Accepted");
    assertThat(pool.configHash()).as("with one model more").isNotEqualTo(good);
    int before = operator.reconciled("InferencePool/pool");
    put(Map.of("epp.yaml", "plugins: ["));
    pool.createModel("sum", "sum", 90);
    await().until(() -> pool.config().contains("sum"));
    operator.awaitReconciled("InferencePool/pool", before + 1);
    pool.awaitPool("Accepted", "True/Accepted");
  }

  /** Where only that list fails, nothing else says what the pool waits for. */
  @Test
  void aConfigMapThatCannotBeListedIsToldUntilItCan() {
    operator.close();
    put(Map.of("epp.yaml", "plugins: [{type: queue-scorer}]\n"));
    AtomicBoolean fails = new AtomicBoolean(true);
    Interceptor cutOff =
        new Interceptor() {
          @Override
          public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
            if (fails.get() && String.valueOf(request.uri().getQuery()).contains("=tuned")) {
              builder.uri(URI.create("https://127.0.0.1:1/"));
            }
          }
        };
    operator =
        new OperatorUnderTest(
            cluster,
            pool,
            OperatorUnderTest.settings(false),
            InstantSource.system(),
            new KubernetesClientBuilder()
                .withConfig(cluster.account(Installed.NAMESPACE, "fairlead-operator"))
                .withHttpClientBuilderConsumer(
                    http -> http.addOrReplaceInterceptor("cut-off", cutOff))
                .build());
    pool.awaitPool("Accepted", "False/InvalidSpec");
    awaitMessage("names ConfigMap tuned, which can't be read: ");

    fails.set(false);
    pool.awaitPool("Accepted", "True/Accepted");
    assertThat(pool.config()).contains("queue-scorer");
  }

  private void put(Map<String, String> data) {
    cluster
        .admin()
        .resource(
            new ConfigMapBuilder()
                .withNewMetadata()
                .withName("tuned")
                .withNamespace(pool.namespace())
                .endMetadata()
                .withData(data)
                .build())
        .createOr(existing -> existing.update());
  }

  private void awaitMessage(String part) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(pool.poolMessage("Accepted")).contains(part));
  }
}
