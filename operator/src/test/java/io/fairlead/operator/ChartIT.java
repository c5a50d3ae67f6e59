package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fairlead.operator.reconcile.Settings;
import io.fairlead.operator.testing.Chart;
import io.fairlead.operator.testing.Kustomization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The charts in {@code charts}, held against the folders of {@code config}. */
class ChartIT {
  private static final Path TOP = Path.of("..");
  private static final YAMLMapper YAML = new YAMLMapper();

  /** Helm's own: who installed an object, and from which version of which chart. */
  private static final List<String> LABELS_OF_HELM =
      List.of(
          "app.kubernetes.io/instance",
          "app.kubernetes.io/managed-by",
          "app.kubernetes.io/version",
          "helm.sh/chart");

  @Test
  void bothChartsTogetherAreTheDefault() throws IOException {
    String charts =
        Chart.render("fairlead-crds", "fairlead-system")
            + "\n---\n"
            + Chart.render("fairlead", "fairlead-system");
    Map<String, JsonNode> expected = objects(Kustomization.render("default"));
    assertThat(expected.remove("Namespace//fairlead-system"))
        .as("the namespace is Helm's to make: it holds the release")
        .isNotNull();
    assertSame(objects(charts), expected);
  }

  @Test
  void theChartOfTheClusterIsTheFolder() throws IOException {
    assertSame(
        objects(Chart.render("fairlead-crds", "fairlead-system")),
        objects(Kustomization.render("cluster")));
  }

  @Test
  void admissionPoliciesAreTheFolder() throws IOException {
    String only = "--show-only=templates/admission.yaml";
    String on = "--set=admissionPolicies.enabled=true";
    assertSame(
        objects(Chart.render("fairlead-crds", "fairlead-system", only, on)),
        objects(Kustomization.render("admission")));
    String refusing = "--set=admissionPolicies.actions={Deny}";
    assertThat(Chart.render("fairlead-crds", "fairlead-system", only, on, refusing))
        .contains("- Deny")
        .doesNotContain("- Warn");
  }

  @Test
  void scopeNamespaceIsTheNamespacedOne() throws IOException {
    assertSame(
        objects(Chart.render("fairlead", "fairlead", "--set=scope=namespace")),
        objects(Kustomization.render("namespaced")));
  }

  @Test
  void monitoringIsTheFolder() throws IOException {
    Map<String, JsonNode> objects =
        objects(
            Chart.render(
                "fairlead",
                "fairlead-system",
                "--show-only=templates/monitoring.yaml",
                "--set=monitoring.podMonitors.enabled=true",
                "--set=monitoring.prometheusRule.enabled=true",
                "--set=monitoring.dashboard.enabled=true"));
    assertSame(objects, objects(Kustomization.render("monitoring")));
  }

  @Test
  void metricsForThoseAloneWhoMayGetThemAreTheFolders() throws IOException {
    String auth = "--set=operator.metricsAuth=true";
    Map<String, JsonNode> expected = objects(Kustomization.render("metrics-auth"));
    objects(Kustomization.render("cluster")).keySet().forEach(expected::remove);
    expected.remove("Namespace//fairlead-system");
    assertSame(objects(Chart.render("fairlead", "fairlead-system", auth)), expected);
    assertSame(
        objects(
            Chart.render(
                "fairlead",
                "fairlead-system",
                auth,
                "--show-only=templates/monitoring.yaml",
                "--set=monitoring.podMonitors.enabled=true",
                "--set=monitoring.prometheusRule.enabled=true",
                "--set=monitoring.dashboard.enabled=true")),
        objects(Kustomization.render("monitoring-auth")));
  }

  @Test
  void thePickersPolicyOfANamespaceIsTheFolders() throws IOException {
    JsonNode policy =
        object(
            objects(
                Chart.render(
                    "fairlead",
                    "fairlead-system",
                    "--set=networkPolicies.pickerNamespaces={models}")),
            "NetworkPolicy/models/fairlead-pickers");
    assertThat(policy.get("spec"))
        .isEqualTo(
            object(
                    objects(Kustomization.render("network-policy-pickers")),
                    "NetworkPolicy//fairlead-pickers")
                .get("spec"));
  }

  @ParameterizedTest
  @CsvSource({
    "fairlead-crds, crds/manifests, endpointpickers.yaml",
    "fairlead-crds, config/cluster, epp-clusterrole.yaml",
    "fairlead-crds, config/cluster, user-clusterroles.yaml",
    "fairlead-crds, config/admission, policies.yaml",
    "fairlead, config/rbac, operator-clusterrole.yaml",
    "fairlead, config/rbac, operator-leaderelection.yaml",
    "fairlead, config/monitoring, prometheusrule.yaml",
    "fairlead, config/monitoring, dashboard.json"
  })
  void theCopiesAreNew(String chart, String folder, String file) {
    assertThat(TOP.resolve("charts").resolve(chart).resolve("files").resolve(file))
        .as("./hack/helm sync copies it")
        .hasSameTextualContentAs(TOP.resolve(folder).resolve(file));
  }

  @Test
  void theCopyOfWhatMetricsTakeIsNew() {
    assertThat(TOP.resolve("charts/fairlead/files/metrics-auth.yaml"))
        .as("./hack/helm sync copies it")
        .hasSameTextualContentAs(TOP.resolve("config/metrics-auth/rbac.yaml"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"fairlead", "fairlead-crds"})
  void theLinterFindsNothing(String chart) throws IOException {
    String folder = "charts/" + chart;
    assertThat(Chart.helm(List.of("lint", "--strict", folder))).contains("0 chart(s) failed");
    String version =
        Files.readAllLines(TOP.resolve("pom.xml")).stream()
            .filter(line -> line.startsWith("  <version>"))
            .map(line -> line.replaceAll("</?version>", "").strip())
            .findFirst()
            .orElseThrow();
    JsonNode description = YAML.readTree(TOP.resolve(folder).resolve("Chart.yaml").toFile());
    assertThat(description.get("version").asText()).isEqualTo(version);
    assertThat(description.get("appVersion").asText()).isEqualTo(version);
  }

  @Test
  void allSayTheSameOfTheOldestKubernetes() throws IOException {
    String oldest = Settings.OLDEST_KUBERNETES;
    for (String chart : List.of("fairlead", "fairlead-crds")) {
      Path description = TOP.resolve("charts").resolve(chart).resolve("Chart.yaml");
      assertThat(YAML.readTree(description.toFile()).get("kubeVersion").asText())
          .isEqualTo(">=%s.0-0".formatted(oldest));
      String older = "1.%d.15".formatted(Integer.parseInt(oldest.substring(2)) - 1);
      assertThatThrownBy(() -> Chart.render(chart, "ours", "--kube-version=" + older))
          .hasMessageContaining("incompatible with Kubernetes");
      assertThat(Chart.render(chart, "ours", "--kube-version=" + oldest + ".0")).isNotEmpty();
    }
    assertThat(
            Pattern.compile("Kubernetes (1\\.\\d+)")
                .matcher(Files.readString(TOP.resolve("docs/install.md")))
                .results()
                .map(said -> said.group(1))
                .distinct())
        .containsExactly(oldest);
  }

  @Test
  void everyValueArrives() throws IOException {
    Path values = TOP.resolve("operator/src/test/resources/charts/every-value.yaml");
    Map<String, JsonNode> objects =
        objects(
            Chart.render(
                "fairlead",
                "ours",
                "--values=" + values.toAbsolutePath(),
                "--set=images.dataplane.digest=sha256:" + "0123456789abcdef".repeat(4)));
    JsonNode deployment = object(objects, "Deployment/ours/fairlead-operator");
    JsonNode pod = deployment.at("/spec/template/spec");
    JsonNode container = pod.at("/containers/0");
    assertThat(container.get("image").asText()).isEqualTo("example.test/operator:1.2");
    assertThat(container.at("/env/0/value").asText())
        .isEqualTo("fairlead.local/dataplane@sha256:" + "0123456789abcdef".repeat(4));
    assertThat(container.at("/env/3/name").asText()).isEqualTo("JAVA_TOOL_OPTIONS");
    assertThat(container.get("args").valueStream().map(JsonNode::asText))
        .containsExactly(
            "--watch-namespaces=one,two",
            "--epp-pull-secrets=registry,other",
            "--adopt=labelled",
            "--max-rollouts=2",
            "--adopt-grace-seconds=0",
            "--leader-elect=true",
            "--log-format=plain",
            "--metrics-endpoint-auth");
    FairleadOperator.commandLine()
        .parseArgs(
            container.get("args").valueStream().map(JsonNode::asText).toArray(String[]::new));
    assertThat(pod.propertyStream().map(Map.Entry::getKey))
        .contains(
            "imagePullSecrets",
            "nodeSelector",
            "tolerations",
            "affinity",
            "topologySpreadConstraints",
            "priorityClassName");
    assertThat(deployment.at("/spec/replicas").asInt()).isEqualTo(2);
    assertThat(deployment.at("/spec/template/metadata/labels/team").asText()).isEqualTo("ml");
    assertThat(objects.values())
        .allSatisfy(
            object -> {
              assertThat(object.at("/metadata/labels/cost-centre").asText()).isEqualTo("42");
              assertThat(object.at("/metadata/annotations/contact").asText()).isEqualTo("us");
            });
    assertThat(
            object(objects, "PrometheusRule/ours/fairlead").at("/metadata/labels/release").asText())
        .isEqualTo("kube-prometheus-stack");
    assertThat(
            object(objects, "NetworkPolicy/one/fairlead-pickers")
                .at("/spec/ingress/0/from/0/ipBlock/cidr")
                .asText())
        .isEqualTo("10.0.0.0/8");
  }

  /** Without election the old pod and the new one would both act while one replaces the other. */
  @ParameterizedTest
  @CsvSource({"true, RollingUpdate", "null, RollingUpdate", "false, Recreate"})
  void anOperatorThatElectsNoLeaderIsReplacedOneAfterTheOther(String elect, String strategy)
      throws IOException {
    JsonNode deployment =
        object(
            objects(
                Chart.render("fairlead", "fairlead-system", "--set=operator.leaderElect=" + elect)),
            "Deployment/fairlead-system/fairlead-operator");
    assertThat(deployment.at("/spec/strategy/type").asText()).isEqualTo(strategy);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "scope=all                                   | /scope",
        "operator.adopt=some                         | /operator/adopt",
        "operator.replicas=-1                        | /operator/replicas",
        "operator.replicas=many                      | /operator/replicas",
        "operator.replicas=2147483648                | /operator/replicas",
        "operator.adoptGraceSeconds=2147483648       | /operator/adoptGraceSeconds",
        "operator.maxRollouts=2147483648             | /operator/maxRollouts",
        "operator.colour=blue                        | colour",
        "operator.priorityClassName=No_Such          | /operator/priorityClassName",
        "images.pullSecrets[0].name=A_B              | /images/pullSecrets/0/name",
        "replicas=2                                  | replicas",
        "images.operator.tag=                        | /images/operator/tag",
        "images.operator.digest=1234                 | /images/operator/digest",
        "images.pullPolicy=Sometimes                 | /images/pullPolicy",
        "monitoring.dashboard.enabled=perhaps        | /monitoring/dashboard/enabled",
        "monitoring.podMonitors.pickerInterval=often | /monitoring/podMonitors/pickerInterval",
        "networkPolicies.metricsReaders=null         | metricsReaders",
        "networkPolicies.metricsReaders[0].everybody=true | everybody",
        "operator.resources.limits.memory=much       | /operator/resources/limits/memory",
        "operator.resources.limits.memory=128Mi      | operator.resources.limits.memory: is 128Mi",
        "operator.resources.limits.memory=268435455  | operator.resources.limits.memory",
        "operator.resources.limits.memory=2e8        | operator.resources.limits.memory",
        "operator.resources.limits.cpu=99m           | operator.resources.limits.cpu",
        "operator.resources.limits.cpu=0.05          | operator.resources.limits.cpu",
        "operator.podLabels.app\\.kubernetes\\.io/name=x | /operator/podLabels/app.kubernetes.io",
        "operator.replicas=2,operator.leaderElect=false | operator.replicas",
        "scope=namespace,operator.watchNamespaces={a} | operator.watchNamespaces",
        "scope=namespace,networkPolicies.pickerNamespaces={a} | networkPolicies.pickerNamespaces",
        "scope=namespace,operator.metricsAuth=true | operator.metricsAuth",
        "operator.metricsAuth=please | /operator/metricsAuth",
        "commonLabels.team=a b | /commonLabels/team",
        "commonLabels.bad key=a | /commonLabels",
        "commonAnnotations.bad key=a | /commonAnnotations",
        "operator.env[0].name=A,operator.env[0].value=b,operator.env[0].valueFrom.fieldRef.fieldPath=c | /operator/env/0",
        "operator.tolerations[0].operator=Exists,operator.tolerations[0].value=a | /operator/tolerations/0",
        "images.operator.repository=reg/op:v1 | /images/operator/repository",
        "networkPolicies.metricsReaders[0].ipBlock.cidr=foo | /networkPolicies/metricsReaders/0/ipBlock/cidr",
        "networkPolicies.metricsReaders[0].ipBlock.cidr=10.0.0.0/33 | /networkPolicies/metricsReaders/0/ipBlock/cidr",
        "networkPolicies.metricsReaders[0].ipBlock.cidr=10.0.0/8 | /networkPolicies/metricsReaders/0/ipBlock/cidr",
        "networkPolicies.pickerClients[0].ipBlock.cidr=300.0.0.0/8 | /networkPolicies/pickerClients/0/ipBlock/cidr",
        "networkPolicies.pickerClients[0].ipBlock.cidr=fd00::/129 | /networkPolicies/pickerClients/0/ipBlock/cidr"
      })
  void aWrongValueIsRefusedByItsField(String value, String field) {
    assertThatThrownBy(() -> Chart.render("fairlead", "ours", "--set=" + value))
        .hasMessageContaining(field);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "limits.memory=256Mi",
        "limits.memory=268435456",
        "limits.memory=0.25Gi",
        "limits.memory=1G",
        "limits.memory=1E",
        "limits.memory=3e8",
        "limits.cpu=0.1",
        "limits.cpu=1",
        "requests.memory=64Mi,operator.resources.limits.memory=64Mi",
        "requests.memory=null,operator.resources.limits.memory=64Mi"
      })
  void limitsThatAreNotLessThanRequestsAreTaken(String resources) {
    assertThat(Chart.render("fairlead", "ours", "--set=operator.resources." + resources))
        .contains("kind: Deployment");
  }

  @Test
  void namesThatLookLikeNumbersAreNames() throws IOException {
    Map<String, JsonNode> objects =
        objects(
            Chart.render(
                "fairlead",
                "123",
                "--set=networkPolicies.pickers=true",
                "--set-string=networkPolicies.pickerNamespaces={456}",
                "--set-string=operator.priorityClassName=789",
                "--set=operator.metricsAuth=true",
                "--set=monitoring.podMonitors.enabled=true",
                "--set-string=monitoring.podMonitors.prometheus.serviceAccount=1e3",
                "--set-string=monitoring.podMonitors.prometheus.namespace=12"));
    assertThat(objects).containsKey("NetworkPolicy/456/fairlead-pickers");
    for (JsonNode object : objects.values()) {
      JsonNode namespace = object.at("/metadata/namespace");
      assertThat(namespace.isMissingNode() || namespace.isTextual()).as("%s", object).isTrue();
    }
    assertThat(
            object(objects, "Deployment/123/fairlead-operator")
                .at("/spec/template/spec/priorityClassName")
                .isTextual())
        .isTrue();
    JsonNode reader =
        object(objects, "ClusterRoleBinding//fairlead-metrics-reader").at("/subjects/0");
    assertThat(reader.get("name").textValue()).isEqualTo("1e3");
    assertThat(reader.get("namespace").textValue()).isEqualTo("12");
  }

  @Test
  void theReadmeListsEveryValue() throws IOException {
    for (String chart : List.of("fairlead", "fairlead-crds")) {
      Path folder = TOP.resolve("charts").resolve(chart);
      Set<String> values = new TreeSet<>();
      leaves("", YAML.readTree(folder.resolve("values.yaml").toFile()), values);
      Set<String> listed =
          Pattern.compile("^\\| `([A-Za-z.]+)` \\|", Pattern.MULTILINE)
              .matcher(Files.readString(folder.resolve("README.md")))
              .results()
              .map((MatchResult match) -> match.group(1))
              .collect(Collectors.toCollection(TreeSet::new));
      assertThat(listed).as(chart).isEqualTo(values);
    }
  }

  /** Settings: maps that are the user's to fill, and what is in them by default, are one. */
  private static void leaves(String path, JsonNode node, Set<String> into) {
    boolean usersOwn = path.endsWith("abels") || path.endsWith("resources");
    if (!node.isObject() || node.isEmpty() || usersOwn) {
      into.add(path);
      return;
    }
    node.propertyStream()
        .forEach(
            entry ->
                leaves(
                    path.isEmpty() ? entry.getKey() : path + "." + entry.getKey(),
                    entry.getValue(),
                    into));
  }

  /** One by one, so that a failure prints the object that differs and not all of them. */
  private static void assertSame(Map<String, JsonNode> actual, Map<String, JsonNode> expected) {
    assertThat(actual).containsOnlyKeys(expected.keySet());
    expected.forEach((key, object) -> assertThat(actual.get(key)).as(key).isEqualTo(object));
  }

  private static JsonNode object(Map<String, JsonNode> objects, String key) {
    return Objects.requireNonNull(objects.get(key), () -> key + " is not in " + objects.keySet());
  }

  /** By kind, namespace and name, without what Helm adds of its own. */
  private static Map<String, JsonNode> objects(String rendered) throws IOException {
    Map<String, JsonNode> objects = new TreeMap<>();
    try (var documents = YAML.readerFor(JsonNode.class).<JsonNode>readValues(rendered)) {
      while (documents.hasNextValue()) {
        if (documents.nextValue() instanceof ObjectNode object && !object.isEmpty()) {
          JsonNode metadata = object.get("metadata");
          String key =
              Stream.of(object.get("kind"), metadata.path("namespace"), metadata.get("name"))
                  .map(JsonNode::asText)
                  .collect(Collectors.joining("/"));
          if (metadata.get("labels") instanceof ObjectNode labels) {
            labels.remove(LABELS_OF_HELM);
            if (key.startsWith("CustomResourceDefinition/")) {
              // Its file has no labels, the chart's has the one that all objects have.
              labels.remove("app.kubernetes.io/part-of");
            }
            if (labels.isEmpty()) {
              ((ObjectNode) metadata).remove("labels");
            }
          }
          if (metadata.get("annotations") instanceof ObjectNode annotations) {
            annotations.remove("helm.sh/resource-policy");
            if (annotations.isEmpty()) {
              ((ObjectNode) metadata).remove("annotations");
            }
          }
          assertThat(objects.put(key, object)).as("%s twice", key).isNull();
        }
      }
    }
    return objects;
  }
}
