package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.GeneratedPage;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.testing.MetricsReference;
import io.fairlead.operator.observe.Adoption;
import io.fairlead.operator.reconcile.Settings;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Kustomization;
import io.fairlead.operator.testing.PoolFixture;
import io.javaoperatorsdk.operator.monitoring.micrometer.MicrometerMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What watches the operator: its metrics under the names that alerts and dashboards ask for. */
@ExtendWith(KubeApi.class)
class MonitoringIT {
  private static final Path CONFIG = Path.of("..", "config", "monitoring");
  private static final Pattern USED =
      Pattern.compile("\\b(?:operator_sdk|fairlead_operator)_[a-z0-9_]+");

  private static final YAMLMapper YAML = new YAMLMapper();
  private static final Pattern SERIES = Pattern.compile("\\bfairlead_[a-z0-9_]+(?:\\{[^}]*})?");
  private static final Pattern LABEL = Pattern.compile("([a-z_]+)(?:=|!=|=~|!~)\"");
  private static final Pattern REASONS = Pattern.compile("reason!~\"([^\"]*)\"");

  @Test
  void everyMetricIsThereOnceItHasHadACause(KubeApi.Running server) throws Exception {
    Installed cluster = Installed.on(server);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("monitored"));
    AtomicBoolean broken = new AtomicBoolean(true);
    var client =
        cluster.operator(
            write -> {
              if (broken.get()) {
                throw new IllegalStateException("the API server is away");
              }
            });
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    var operator =
        Controllers.on(
            client,
            new Settings(Adoption.ALL, Duration.ZERO, OperatorUnderTest.PICKER),
            Set.of(pool.namespace()),
            MicrometerMetrics.withoutPerResourceMetrics(registry),
            InstantSource.system(),
            registry);
    try (var process = new OperatorProcess(operator, client);
        var page = new HealthServer(0, process::healthy, process::ready, registry, null);
        var http = HttpClient.newHttpClient()) {
      process.run();
      pool.createPool();
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> scrape(http, page).contains("operator_sdk_reconciliations_failed_total"));
      broken.set(false);
      pool.becomeReady();

      for (String file : Set.of("rules.yaml", "prometheusrule.yaml", "dashboard.json")) {
        Set<String> used =
            USED.matcher(Files.readString(CONFIG.resolve(file)))
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toSet());
        assertThat(used).as(file).isNotEmpty();
        // Of a look that is over: its statuses are there a moment before.
        await()
            .untilAsserted(
                () ->
                    assertThat(names(scrape(http, page)))
                        .as("of the operator's, as %s names them", file)
                        .containsAll(used));
      }
      // Of looks that are not over yet.
      await().untilAsserted(() -> held(scrape(http, page)));
      Set<String> there = names(scrape(http, page));
      assertThat(String.join(" ", alerts().values()))
          .as("alerts over all that the operator itself counts")
          .contains(there.stream().filter(name -> name.startsWith("fairlead_operator_")).toList());
    }
  }

  private static void held(String scraped) throws IOException {
    GeneratedPage page =
        new GeneratedPage(
            "Metrics of the operator",
            """
            Every metric that the operator can have at `/metrics`; some are there once something of their kind has happened. Those of `operator_sdk_` are of \
            the framework that it is made with, and any other operator that is made with it has them, too. [operations.md](../operations.md#metrics) has \
            alerts and a dashboard; those of pickers are on [a page of their own](metrics.md).
            """);
    new MetricsReference(scraped).add(page);
    page.hold("reference/operator-metrics.md", MonitoringIT.class);
  }

  /** Of all metrics on a page. */
  private static Set<String> names(String page) {
    return page.lines()
        .filter(line -> !line.startsWith("#"))
        .map(line -> line.split("[{ ]", 2)[0])
        .collect(Collectors.toSet());
  }

  @Test
  void theAlertsAreTheSameInBothForms() throws IOException {
    String rules = Files.readString(CONFIG.resolve("rules.yaml"));
    String resource = Files.readString(CONFIG.resolve("prometheusrule.yaml"));
    assertThat(resource.substring(resource.indexOf("  groups:")))
        .isEqualTo(
            rules
                .substring(rules.indexOf("groups:"))
                .lines()
                .map(line -> "  " + line + "\n")
                .collect(Collectors.joining()));
  }

  /** Every operator that is made with the same framework has metrics of these names. */
  @Test
  void operatorsOfOthersCountNowhere() throws IOException {
    for (String file : Set.of("rules.yaml", "prometheusrule.yaml", "dashboard.json")) {
      assertThat(
              Pattern.compile("operator_sdk_[a-z_]+(.{0,40})")
                  .matcher(Files.readString(CONFIG.resolve(file)).replace("\\\"", "\""))
                  .results()
                  .map(used -> used.group(1)))
          .as(file)
          .isNotEmpty()
          .allMatch(selector -> selector.startsWith("{pod=~\"fairlead-operator-.+\"}"));
    }
  }

  /** Nothing can be scraped of who is gone: kube-state-metrics tells, by the names set for it. */
  @Test
  void pickersPoolsAndAnOperatorThatAreGoneAreToldByOthers() throws IOException {
    Map<String, String> alerts = alerts();
    Map<String, Set<String>> told = labelsOfConditions();
    for (String alert : List.of("FairleadNoPicker", "FairleadPoolNotReady")) {
      assertThat(alerts).containsKey(alert);
      Set<String> used =
          SERIES
              .matcher(alerts.get(alert))
              .results()
              .map(MatchResult::group)
              .collect(Collectors.toSet());
      assertThat(used).as(alert).isNotEmpty();
      for (String series : used) {
        String[] parts = series.split("\\{", 2);
        assertThat(told).as(alert).containsKey(parts[0]);
        if (parts.length > 1) {
          assertThat(told.get(parts[0]))
              .as(alert)
              .containsAll(LABEL.matcher(parts[1]).results().map(label -> label.group(1)).toList());
        }
      }
    }
    assertThat(alerts.get("FairleadNoPicker")).contains("(fairlead_picker_ready_replicas) == 0");
    for (String alert : List.of("FairleadNoPicker", "FairleadPoolNotReady")) {
      assertThat(alerts.get(alert))
          .as("nobody need be told of what somebody has scaled to 0")
          .endsWith(
              " unless on (namespace, pool) max by (namespace, pool) (fairlead_picker_spec_replicas) == 0");
    }
    assertThat(alerts.get("FairleadPoolNotReady"))
        .as("known by what they speak for: the kind of upstream's v1.0 drops who wrote an entry")
        .contains("(fairlead_pool_ready{parent_kind=\"EndpointPicker\"")
        .contains("fairlead_old_pool_ready{parent_kind=\"EndpointPicker\"", ") == 0");
    assertThat(
            REASONS
                .matcher(alerts.get("FairleadPoolNotReady"))
                .results()
                .flatMap(reasons -> Stream.of(reasons.group(1).split("\\|", -1))))
        .isNotEmpty()
        .isSubsetOf(Stream.of(Reason.values()).map(Reason::wireName).toList());
    assertThat(alerts.get("FairleadOperatorGone"))
        .contains("absent(fairlead_operator_", "{deployment=\"fairlead-operator\"}) == 0");
  }

  /** Expressions by name. */
  private static Map<String, String> alerts() throws IOException {
    Map<String, String> alerts = new TreeMap<>();
    for (JsonNode rule :
        YAML.readTree(CONFIG.resolve("rules.yaml").toFile()).at("/groups/0/rules")) {
      alerts.put(rule.get("alert").asText(), rule.get("expr").asText());
    }
    return alerts;
  }

  /** By the metrics that kube-state-metrics makes of our kinds. */
  private static Map<String, Set<String>> labelsOfConditions() throws IOException {
    Map<String, Set<String>> labels = new TreeMap<>();
    JsonNode config = YAML.readTree(CONFIG.resolve("kube-state-metrics.yaml").toFile());
    for (JsonNode kind : config.at("/spec/resources")) {
      for (JsonNode metric : kind.get("metrics")) {
        labels.put(
            kind.get("metricNamePrefix").asText() + "_" + metric.get("name").asText(),
            Stream.of(kind.get("labelsFromPath"), metric.at("/each/gauge/labelsFromPath"))
                .flatMap(JsonNode::propertyStream)
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet()));
      }
    }
    return labels;
  }

  @Test
  void anApiServerTakesTheMonitors(KubernetesClient admin) {
    createKind(admin, "PodMonitor", "podmonitor");
    createKind(admin, "PrometheusRule", "prometheusrule");
    Kustomization.apply(admin, Kustomization.render("operator"));
    Kustomization.apply(admin, Kustomization.render("monitoring"));
    assertThat(
            admin
                .configMaps()
                .inNamespace(Installed.NAMESPACE)
                .withName("fairlead-dashboard")
                .get()
                .getData())
        .containsOnlyKeys("fairlead.json");
  }

  @Test
  void anApiServerTakesTheOperatorThatWantsATokenAndTheMonitorThatShowsOne(KubernetesClient admin)
      throws IOException {
    createKind(admin, "ServiceMonitor", "servicemonitor");
    String secured = Kustomization.render("metrics-auth");
    Kustomization.apply(admin, secured);
    assertThat(secured).contains("- --metrics-endpoint-auth");
    assertThat(FairleadOperator.commandLine().parseArgs("--metrics-endpoint-auth").errors())
        .isEmpty();
    createKind(admin, "PodMonitor", "podmonitor");
    createKind(admin, "PrometheusRule", "prometheusrule");
    String monitors = Kustomization.render("monitoring-auth");
    assertThat(monitors)
        .as("a PodMonitor shows no token, and would get 401")
        .contains("name: fairlead-pickers")
        .doesNotContainPattern("kind: PodMonitor\nmetadata:(\n  .*)*\n  name: fairlead-operator");
    Kustomization.apply(admin, monitors);
    Service service =
        admin
            .services()
            .inNamespace(Installed.NAMESPACE)
            .withName("fairlead-operator-metrics")
            .require();
    GenericKubernetesResource monitor =
        admin
            .genericKubernetesResources("monitoring.coreos.com/v1", "ServiceMonitor")
            .inNamespace(Installed.NAMESPACE)
            .withName("fairlead-operator")
            .require();
    assertThat(service.getMetadata().getLabels())
        .containsAllEntriesOf(monitor.<Map<String, String>>get("spec", "selector", "matchLabels"));
    assertThat(monitor.<String>get("spec", "endpoints", 0, "port"))
        .isEqualTo(service.getSpec().getPorts().getFirst().getName());
    assertThat(monitor.<String>get("spec", "endpoints", 0, "bearerTokenFile"))
        .endsWith("serviceaccount/token");
  }

  /** A kind of the Prometheus operator, without what is in it. */
  private static void createKind(KubernetesClient admin, String kind, String singular) {
    String yaml =
        """
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: %1$ss.monitoring.coreos.com}
        spec:
          group: monitoring.coreos.com
          scope: Namespaced
          names: {kind: %2$s, plural: %1$ss, singular: %1$s}
          versions:
            - name: v1
              served: true
              storage: true
              schema:
                openAPIV3Schema:
                  type: object
                  properties:
                    spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
        """
            .formatted(singular, kind);
    CustomResourceDefinition crd = Serialization.unmarshal(yaml, CustomResourceDefinition.class);
    Crds.awaitServed(admin, admin.resource(crd).serverSideApply());
  }

  private static String scrape(HttpClient http, HealthServer page)
      throws IOException, InterruptedException {
    return http.send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + page.port() + "/metrics"))
                .build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }
}
