package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.PICKER;
import static io.fairlead.operator.testing.PoolFixture.POOL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServicePort;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.operator.testing.Picker;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A picker that takes requests itself, and its way there and back, on a real API server. */
class FrontendIT extends OperatorWithPool {
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  FrontendIT() {
    super("frontend", true);
  }

  @BeforeEach
  void start() {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.awaitPickerCarriedOut();
    pool.becomeReady();
  }

  @Test
  void isChangedToAGatewayAndBackAsOftenAsOneLikes() {
    assertExtProc();
    for (int i = 0; i < 2; i++) {
      frontend("\"Gateway\"");
      await().atMost(Duration.ofSeconds(30)).untilAsserted(this::assertGateway);
      assertThat(pool.need(EndpointPicker.class, "mine").getSpec().frontend()).isEqualTo("Gateway");
      awaitResolved(
          "Service picker-service is provided: clients send their requests to its port 9002 over"
              + " HTTP");
      pool.awaitPool("Ready", "False/RolloutInProgress");
      pool.becomeAvailableAgain();
      pool.awaitPool("Ready", "True/Ready");

      frontend("null");
      await().atMost(Duration.ofSeconds(30)).untilAsserted(this::assertExtProc);
      awaitResolved("Service picker-service is provided");
      pool.becomeAvailableAgain();
      pool.awaitPool("Ready", "True/Ready");
    }
    AuditLog.Mark before = operator.mark();
    int seen = operator.reconciled("InferencePool/" + POOL);
    pool.createModel("chat", "chat", 90);
    operator.awaitReconciled("InferencePool/" + POOL, seen + 1);
    pool.awaitModel("chat", "Accepted", "True/Accepted");
    assertThat(operator.requests(before))
        .as("nothing is left over that is put right again and again")
        .filteredOn(AuditLog.Request::writes)
        .noneMatch(write -> Set.of("deployments", "services").contains(write.resource()));
  }

  /**
   * Its pod's part is played by a real gateway, with a picker's rights and the generated config.
   */
  @Test
  void aGatewayServesWhatTheOperatorWroteAndReportsIt() throws Exception {
    frontend("\"Gateway\"");
    await().atMost(Duration.ofSeconds(30)).untilAsserted(this::assertGateway);
    pool.becomeAvailableAgain();
    pool.createModel("chat", "chat", 90);
    try (Picker gateway = Picker.gateway(cluster, pool);
        HttpClient http = HttpClient.newHttpClient()) {
      pool.awaitModel("chat", "Programmed", "True/Programmed");
      pool.awaitPool("Ready", "True/Ready");
      URI models = URI.create("http://127.0.0.1:" + gateway.gatewayPort() + "/v1/models");
      assertThat(
              http.send(
                      HttpRequest.newBuilder(models).build(), HttpResponse.BodyHandlers.ofString())
                  .body())
          .contains("\"id\":\"chat\"");
      assertThat(gateway.report().configHash()).isEqualTo(pool.configHash());
    }
  }

  @Test
  void aFrontendThatNobodyKnowsIsRefusedByTheApiServer() {
    assertThatThrownBy(() -> frontend("\"Proxy\""))
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining("spec.frontend: Unsupported value: \"Proxy\"");
  }

  /** The status is written after what it tells of. */
  private void awaitResolved(String message) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(pool.poolMessage("ResolvedRefs")).isEqualTo(message));
  }

  private void frontend(String json) {
    cluster
        .admin()
        .resource(pool.need(EndpointPicker.class, "mine"))
        .patch(MERGE, "{\"spec\":{\"frontend\":" + json + "}}");
  }

  private void assertGateway() {
    ServicePort port = servicePort();
    assertThat(port.getName()).isEqualTo("http");
    assertThat(port.getAppProtocol()).isEqualTo("http");
    assertThat(port.getPort()).isEqualTo(9002);
    assertThat(port.getTargetPort().getIntVal()).isEqualTo(8080);
    Container container = pod().getContainers().getFirst();
    assertThat(container.getArgs()).startsWith("gateway").doesNotContain("epp");
    assertThat(container.getPorts())
        .extracting(ContainerPort::getContainerPort)
        .containsExactly(8080, 9090);
    assertThat(container.getReadinessProbe().getGrpc()).isNull();
    assertThat(container.getReadinessProbe().getHttpGet().getPath()).isEqualTo("/readyz");
    assertThat(container.getLivenessProbe().getHttpGet().getPath()).isEqualTo("/healthz");
    assertThat(pod().getTerminationGracePeriodSeconds()).isGreaterThan(600);
  }

  private void assertExtProc() {
    ServicePort port = servicePort();
    assertThat(port.getName()).isEqualTo("grpc-ext-proc");
    assertThat(port.getAppProtocol()).isEqualTo("http2");
    assertThat(port.getTargetPort().getIntVal()).isEqualTo(9002);
    Container container = pod().getContainers().getFirst();
    assertThat(container.getArgs()).startsWith("epp").doesNotContain("gateway");
    assertThat(container.getPorts())
        .extracting(ContainerPort::getContainerPort)
        .containsExactly(9002, 9003, 9090);
    assertThat(container.getReadinessProbe().getHttpGet()).isNull();
    assertThat(container.getReadinessProbe().getGrpc().getService())
        .isEqualTo("inference-extension");
  }

  private PodSpec pod() {
    return pool.need(Deployment.class, PICKER).getSpec().getTemplate().getSpec();
  }

  private ServicePort servicePort() {
    var ports = pool.need(Service.class, "picker-service").getSpec().getPorts();
    assertThat(ports).hasSize(1);
    return ports.getFirst();
  }
}
