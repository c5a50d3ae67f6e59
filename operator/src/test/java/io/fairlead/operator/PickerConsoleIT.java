package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.PICKER;
import static io.fairlead.operator.testing.PoolFixture.POOL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.operator.testing.TestSecrets;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A picker's console, from the EndpointPicker to its pods, on a real API server. */
class PickerConsoleIT extends OperatorWithPool {

  PickerConsoleIT() {
    super("console", true);
  }

  @BeforeEach
  void start() {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.awaitPickerCarriedOut();
    pool.becomeReady();
  }

  @Test
  void isSwitchedOnWithItsTokenAndOffAgain() {
    PodSpec without = pod();
    console("{\"enabled\":true,\"tokenSecretRef\":{\"name\":\"console\",\"key\":\"secret\"}}");
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(pod().getContainers().getFirst().getArgs())
                    .endsWith("--console", "--console-token-file", "/etc/fairlead/console/token"));
    Volume token = pod().getVolumes().getLast();
    assertThat(token.getSecret().getSecretName()).isEqualTo("console");
    assertThat(token.getSecret().getOptional()).as("a missing page keeps no pool down").isTrue();
    assertThat(token.getSecret().getItems().getFirst().getKey()).isEqualTo("secret");
    pool.becomeAvailableAgain();
    TestSecrets.put(pool, "console", Map.of("secret", "0123456789abcdef"));
    pool.awaitPool("Ready", "True/Ready");

    AuditLog.Mark before = operator.mark();
    int seen = operator.reconciled("InferencePool/" + POOL);
    pool.createModel("chat", "chat", 90);
    operator.awaitReconciled("InferencePool/" + POOL, seen + 1);
    pool.awaitModel("chat", "Accepted", "True/Accepted");
    assertThat(operator.requests(before))
        .filteredOn(AuditLog.Request::writes)
        .as("what was applied is what is there")
        .noneMatch(write -> write.resource().equals("deployments"));

    console("null");
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(pod()).isEqualTo(without));
  }

  /** Whoever asks from elsewhere gets 403 until it is there, and nobody would know why. */
  @Test
  void whatIsWrongWithTheSecretOfItsTokenIsToldUntilItIsMended() {
    console("{\"enabled\":true,\"tokenSecretRef\":{\"name\":\"console\",\"key\":\"word\"}}");
    pool.awaitPool("ResolvedRefs", "False/InvalidSecretRef");
    assertThat(pool.poolMessage("ResolvedRefs"))
        .startsWith("Secret " + pool.namespace() + "/console of spec.console.tokenSecretRef")
        .contains(
            "EndpointPicker mine",
            "does not exist",
            "kubectl create secret generic console --from-literal=word=");
    TestSecrets.put(pool, "console", Map.of("token", "0123456789abcdef"));
    awaitMessage("has no key word");
    TestSecrets.put(pool, "console", Map.of("word", "tooshort"));
    awaitMessage("the token under word must have from 16 to 4096 bytes");
    assertThat(pool.poolMessage("ResolvedRefs")).doesNotContain("tooshort");
    TestSecrets.put(pool, "console", Map.of("word", "0123456789abcdef\n"));
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");

    console("{\"enabled\":false,\"tokenSecretRef\":{\"name\":\"gone\"}}");
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(pod().getContainers().getFirst().getArgs()).doesNotContain("--console"));
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
  }

  private void awaitMessage(String part) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(pool.poolMessage("ResolvedRefs")).contains(part));
  }

  @Test
  void aTokenWithoutASecretIsRefusedByTheApiServer() {
    assertThatThrownBy(() -> console("{\"enabled\":true,\"tokenSecretRef\":{\"key\":\"x\"}}"))
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining("spec.console.tokenSecretRef.name: Required value");
  }

  private PodSpec pod() {
    return pool.need(Deployment.class, PICKER).getSpec().getTemplate().getSpec();
  }

  private void console(String value) {
    cluster
        .admin()
        .resource(pool.need(EndpointPicker.class, "mine"))
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"console\":" + value + "}}");
  }
}
