package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.PICKER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPickerStatus;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What users and GitOps tools ask of objects that the operator serves, with the real kubectl. */
@ExtendWith(KubeApi.class)
class KubectlIT {
  /** Our entry, whoever else has one. As operations.md has it. */
  private static final String POOL_READY =
      "jsonpath={.status.parents[?(@.parentRef.kind==\"EndpointPicker\")].conditions[?(@.type==\"Ready\")].status}=True";

  @TempDir private Path folder;
  private KubeApi.Running server;
  private PoolFixture pool;
  private OperatorUnderTest operator;

  @BeforeEach
  void start(KubeApi.Running running) {
    server = running;
    Installed cluster = Installed.on(server);
    pool = new PoolFixture(cluster.admin(), cluster.namespace("kubectl"));
    operator = new OperatorUnderTest(cluster, pool, true);
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.createModel("chat", "chat", 90);
  }

  @AfterEach
  void stop() {
    operator.close();
  }

  @Test
  void waitEndsWhenAllIsReadyAndNotBefore() throws Exception {
    pool.awaitPool("Ready", "False/RolloutInProgress");
    assertThat(kubectl("wait", "infmodel/chat", "--for=condition=Ready", "--timeout=1s"))
        .contains("timed out");
    assertThat(kubectl("wait", "infpool/pool", "--for=" + POOL_READY, "--timeout=1s"))
        .contains("timed out");
    pool.becomeReady();
    for (String ready :
        List.of(
            kubectl("wait", "infmodel/chat", "--for=condition=Ready", "--timeout=60s"),
            kubectl("wait", "epp/mine", "--for=condition=Ready", "--timeout=60s"),
            kubectl("wait", "infpool/pool", "--for=" + POOL_READY, "--timeout=60s"))) {
      assertThat(ready).endsWith("condition met\n");
    }
    assertThat(Files.readString(Path.of("../docs/operations.md"))).contains(POOL_READY);
  }

  @Test
  void theTableOfModelsSaysWhoAnswersForTheirNames() throws Exception {
    pool.becomeReady();
    pool.awaitModel("chat", "Ready", "True/Ready");
    assertThat(kubectl("get", "infmodel", "-o", "wide").lines().map(String::strip))
        .element(0)
        .asString()
        .endsWith("REASON   TARGETS");
    assertThat(kubectl("get", "infmodel/chat", "-o", "wide", "--no-headers").strip())
        .containsPattern("Ready +The pool sends its requests to a 90 %, b 10 %$");
  }

  @Test
  void scaleIsTheNumberOfPickers() throws Exception {
    pool.awaitPool("Ready", "False/RolloutInProgress");
    assertThat(kubectl("scale", "epp/mine", "--replicas=3")).endsWith("scaled\n");
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> pool.need(Deployment.class, PICKER).getSpec().getReplicas() == 3);
    pool.becomeAvailable();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              EndpointPickerStatus status = pool.need(EndpointPicker.class, "mine").getStatus();
              return status != null && Objects.equals(status.replicas(), 1);
            });
    String scale = kubectl("get", "--raw", scalePath());
    assertThat(scale)
        .contains("\"spec\":{\"replicas\":3}")
        .as("the pods that are there")
        .contains("\"status\":{\"replicas\":1,")
        .contains(
            "\"selector\":\"app.kubernetes.io/name=fairlead-epp,fairlead.io/picker=pool-epp\"");
  }

  /** The rules of kstatus, by which Flux and others judge kinds that they don't know. */
  @Test
  void aModelIsInProgressThenCurrentOrFailed() {
    pool.awaitModel("chat", "Accepted", "True/Accepted");
    assertThat(kstatus("InferenceModel", "chat")).isEqualTo("InProgress");
    pool.becomeReady();
    pool.awaitModel("chat", "Ready", "True/Ready");
    assertThat(kstatus("InferenceModel", "chat")).isEqualTo("Current");
    pool.awaitPicker("mine", "Ready", "True/Ready");
    assertThat(kstatus("EndpointPicker", "mine")).isEqualTo("Current");

    pool.createModel("second", "chat", 90);
    pool.awaitModel("second", "Ready", "False/ModelNameInUse");
    assertThat(kstatus("InferenceModel", "second")).isEqualTo("Failed");
    assertThat(kstatus("InferenceModel", "chat")).isEqualTo("Current");
    pool.becomeUnavailable();
    pool.awaitModel("chat", "Ready", "False/EPPUnavailable");
    assertThat(kstatus("InferenceModel", "chat")).isEqualTo("InProgress");
  }

  @Test
  void aPickerThatOnlyAPersonCanMendIsFailed() {
    pool.becomeReady();
    pool.awaitPicker("mine", "Ready", "True/Ready");
    pool.createPicker("second", "{name: pool}");
    pool.awaitPicker("second", "Ready", "False/PickerConflict");
    assertThat(kstatus("EndpointPicker", "second")).isEqualTo("Failed");

    plugin("no-such");
    pool.awaitPicker("mine", "Ready", "False/InvalidSpec");
    assertThat(kstatus("EndpointPicker", "mine")).isEqualTo("Failed");
    plugin("queue-scorer");
    pool.awaitPicker("mine", "Accepted", "True/Accepted");
    assertThat(kstatus("EndpointPicker", "mine")).isIn("InProgress", "Current");
  }

  private void plugin(String type) {
    server
        .client()
        .resource(pool.need(EndpointPicker.class, "mine"))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"scheduling\":{\"plugins\":[{\"type\":\"%s\"}]}}}".formatted(type));
  }

  /** A wait that begins at once after an apply must not pass. */
  @Test
  void aPickerIsInProgressBeforeItIsJudged() {
    operator.close();
    pool.createPicker("later", "{name: pool}");
    assertThat(kstatus("EndpointPicker", "later")).isEqualTo("InProgress");
  }

  private String kstatus(String kind, String name) {
    String version =
        kind.equals("EndpointPicker")
            ? "fairlead.io/v1alpha1"
            : "inference.networking.x-k8s.io/v1alpha2";
    GenericKubernetesResource object =
        server
            .client()
            .genericKubernetesResources(version, kind)
            .inNamespace(pool.namespace())
            .withName(name)
            .get();
    Number observed = object.get("status", "observedGeneration");
    if (observed != null && observed.longValue() != object.getMetadata().getGeneration()) {
      return "InProgress";
    }
    List<Map<String, Object>> conditions =
        Objects.requireNonNullElse(object.get("status", "conditions"), List.of());
    if (is(conditions, "Stalled", "True")) {
      return "Failed";
    }
    if (is(conditions, "Reconciling", "True")
        || is(conditions, "Ready", "False")
        || is(conditions, "Ready", "Unknown")) {
      return "InProgress";
    }
    return "Current";
  }

  private static boolean is(List<Map<String, Object>> conditions, String type, String status) {
    return conditions.stream()
        .anyMatch(c -> type.equals(c.get("type")) && status.equals(c.get("status")));
  }

  private String scalePath() {
    return "/apis/fairlead.io/v1alpha1/namespaces/"
        + pool.namespace()
        + "/endpointpickers/mine/scale";
  }

  private String kubectl(String... words) throws IOException, InterruptedException {
    Path config = Files.writeString(folder.resolve("kubeconfig"), server.kubeConfig());
    List<String> command = new ArrayList<>();
    command.add(KubeApi.kubectl().toString());
    Stream.of(words).forEach(command::add);
    command.addAll(List.of("--kubeconfig", config.toString()));
    if (!List.of(words).contains("--raw")) {
      command.addAll(List.of("--namespace", pool.namespace()));
    }
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return said;
  }
}
