package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1alpha2.OldInferencePool;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Health expressions for Flux on real objects. They are CEL, which the API server can evaluate: a
 * policy that denies every dry run says what they come to. An API server of its own, since its
 * kinds are more than others expect.
 */
class GitOpsIT {
  private static final Path CONFIG = Path.of("..", "config");

  /** A field of the object, as Flux names it. */
  private static final Pattern TOP = Pattern.compile("(?<![.\\w])(status|metadata|spec)(?=\\.)");

  private static final Pattern SAID = Pattern.compile("current=(true|false) failed=(true|false)");

  private static KubeApi.Running server;

  private static Installed cluster;
  private final List<HasMetadata> policies = new ArrayList<>();

  @BeforeAll
  static void startServer() {
    server = KubeApi.Running.start();
    cluster = Installed.on(server);
    Crds.upstream(cluster.admin(), "llm-d.ai");
    Crds.oldPools(cluster.admin());
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @Test
  void fluxWaitsForWhatIsOnItsWayAndFailsWhatIsWrong() throws IOException {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("gitops"));
    for (JsonNode check : newer()) {
      askOf(check, pool.namespace());
    }
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.createUpstream("llm-d.ai");
    for (JsonNode check : newer()) {
      awaitAnswer(pool, check, "before the operator runs", false, false);
    }
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.awaitPool("Ready", "False/RolloutInProgress");
      pool.awaitModel("chat", "Accepted", "True/Accepted");
      for (String kind : List.of("InferencePool", "EndpointPicker", "InferenceModel")) {
        awaitAnswer(pool, check(kind), "while pods start", false, false);
      }
      for (String kind : List.of("InferenceObjective", "InferenceModelRewrite")) {
        awaitAnswer(pool, check(kind), "in the config", true, false);
      }
      pool.becomeReady();
      for (JsonNode check : newer()) {
        awaitAnswer(pool, check, "when all is well", true, false);
      }
      edit(
          pool,
          check("EndpointPicker"),
          "mine",
          "{\"spec\":{\"scheduling\":{\"plugins\":[{\"type\":\"no\"}]}}}");
      for (String kind : List.of("InferencePool", "EndpointPicker")) {
        awaitAnswer(pool, check(kind), "with a field that is wrong", false, true);
      }
      edit(
          pool,
          check("InferenceObjective"),
          "batch",
          "{\"spec\":{\"poolRef\":{\"name\":\"nowhere\"}}}");
      awaitAnswer(pool, check("InferenceObjective"), "with no pool", false, true);
      edit(
          pool, check("InferenceModel"), "chat", "{\"spec\":{\"poolRef\":{\"kind\":\"Service\"}}}");
      awaitAnswer(pool, check("InferenceModel"), "with no pool", false, true);
    } finally {
      policies.forEach(policy -> cluster.admin().resource(policy).delete());
    }
  }

  @Test
  void fluxJudgesAPoolOfTheOlderGroupByOurEntry() throws IOException {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("gitops"));
    JsonNode check = checks().stream().filter(GitOpsIT::isOlder).findFirst().orElseThrow();
    askOf(check, pool.namespace());
    pool.create(
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferencePool
        metadata: {name: pool}
        spec: {selector: {app: vllm}, targetPortNumber: 8000, extensionRef: {name: picker-service}}
        """);
    awaitAnswer(pool, check, "before the operator runs", false, false);
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.createModel("chat", "chat", 90);
      pool.awaitModel("chat", "Accepted", "True/Accepted");
      awaitAnswer(pool, check, "while pods start", false, false);
      pool.becomeAvailable();
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () -> {
                pool.reportCurrent();
                assertThat(answer(pool, check)).isEqualTo("current=true failed=false");
              });
      edit(pool, check, "pool", "{\"spec\":{\"extensionRef\":{\"name\":\"Bad Name!\"}}}");
      awaitAnswer(pool, check, "with a field that is wrong", false, true);
    } finally {
      policies.forEach(policy -> cluster.admin().resource(policy).delete());
    }
  }

  @Test
  void fluxAndArgoJudgeTheSameKindsInEachGroupAlike() throws IOException {
    Set<String> argo = new TreeSet<>();
    try (InputStream in = Files.newInputStream(CONFIG.resolve("gitops/argocd-cm.yaml"))) {
      new YAMLMapper()
          .readTree(in)
          .path("data")
          .propertyStream()
          .map(Map.Entry::getKey)
          .forEach(key -> argo.add(key.replace("resource.customizations.health.", "")));
    }
    assertThat(checks())
        .map(
            check ->
                check.path("apiVersion").asText().split("/", 2)[0]
                    + "_"
                    + check.path("kind").asText())
        .containsExactlyInAnyOrderElementsOf(argo);
    for (JsonNode check : checks()) {
      if (isOlder(check) && !check.path("kind").asText().equals(OldInferencePool.KIND)) {
        JsonNode same = check(check.path("kind").asText());
        assertThat(check.path("current")).isEqualTo(same.path("current"));
        assertThat(check.path("failed")).isEqualTo(same.path("failed"));
      }
    }
  }

  /** All but those for the older group of kinds that are in two. */
  private static List<JsonNode> newer() throws IOException {
    return checks().stream().filter(check -> !isOlder(check)).toList();
  }

  private static boolean isOlder(JsonNode check) {
    return !check.path("kind").asText().equals("InferenceModel")
        && check.path("apiVersion").asText().startsWith(OldInferencePool.GROUP + "/");
  }

  private static List<JsonNode> checks() throws IOException {
    try (InputStream in = Files.newInputStream(CONFIG.resolve("gitops/flux-kustomization.yaml"))) {
      JsonNode checks = new YAMLMapper().readTree(in).path("spec").path("healthCheckExprs");
      assertThat(checks).isNotEmpty();
      return checks.valueStream().toList();
    }
  }

  private static JsonNode check(String kind) throws IOException {
    for (JsonNode check : newer()) {
      if (check.path("kind").asText().equals(kind)) {
        return check;
      }
    }
    throw new AssertionError(kind);
  }

  /** From here on a dry run of an update is denied with what both expressions come to. */
  private void askOf(JsonNode check, String namespace) {
    String kind = check.path("kind").asText();
    String name = namespace + "-" + kind.toLowerCase(Locale.ROOT);
    String message =
        "'current=' + string(%s) + ' failed=' + string(%s)"
            .formatted(ofObject(check.path("current")), ofObject(check.path("failed")));
    String yaml =
        """
        apiVersion: admissionregistration.k8s.io/v1
        kind: ValidatingAdmissionPolicy
        metadata: {name: %1$s}
        spec:
          failurePolicy: Fail
          matchConstraints:
            namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %2$s}}
            resourceRules:
              - {apiGroups: [%3$s], apiVersions: ["*"], operations: [UPDATE], resources: [%4$s]}
          matchConditions: [{name: dry-run, expression: "has(request.dryRun) && request.dryRun"}]
          validations:
            - expression: "false"
              messageExpression: "%5$s"
        ---
        apiVersion: admissionregistration.k8s.io/v1
        kind: ValidatingAdmissionPolicyBinding
        metadata: {name: %1$s}
        spec: {policyName: %1$s, validationActions: [Deny]}
        """
            .formatted(
                name,
                namespace,
                check.path("apiVersion").asText().split("/", 2)[0],
                kind.toLowerCase(Locale.ROOT) + "s",
                message);
    policies.addAll(
        cluster
            .admin()
            .load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)))
            .create());
  }

  private static String ofObject(JsonNode expression) {
    return "(" + TOP.matcher(expression.asText()).replaceAll("object.$1") + ")";
  }

  private static void awaitAnswer(
      PoolFixture pool, JsonNode check, String when, boolean current, boolean failed) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(answer(pool, check))
                    .as("%s %s", check.path("kind").asText(), when)
                    .isEqualTo("current=%s failed=%s".formatted(current, failed)));
  }

  private static String answer(PoolFixture pool, JsonNode check) {
    GenericKubernetesResource object =
        cluster
            .admin()
            .genericKubernetesResources(
                check.path("apiVersion").asText(), check.path("kind").asText())
            .inNamespace(pool.namespace())
            .list()
            .getItems()
            .getFirst();
    object.getMetadata().setAnnotations(Map.of("example.test/asked", "yes"));
    object.getMetadata().setManagedFields(List.of());
    try {
      var _ = cluster.admin().resource(object).dryRun(true).update();
      return "nobody denied it";
    } catch (KubernetesClientException e) {
      String message = String.valueOf(e.getMessage());
      Matcher said = SAID.matcher(message);
      if (said.find()) {
        return said.group();
      }
      // Without a status the expression can't be evaluated, and Flux waits.
      return message.contains("failed expression: false") ? "current=false failed=false" : message;
    }
  }

  private static void edit(PoolFixture pool, JsonNode check, String name, String patch) {
    cluster
        .admin()
        .genericKubernetesResources(check.path("apiVersion").asText(), check.path("kind").asText())
        .inNamespace(pool.namespace())
        .withName(name)
        .patch(PatchContext.of(PatchType.JSON_MERGE), patch);
  }
}
