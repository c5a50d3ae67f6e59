package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewSpec;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewSpecBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.access.PageAccess;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.testing.Installed;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Metrics for those alone who may get them, with the rights that are shipped for it. */
class MetricsAuthIT {
  private static final Path RBAC = Path.of("..", "config", "metrics-auth", "rbac.yaml");

  private final AtomicLong now = new AtomicLong();

  @Test
  void theApiServerSaysWhoMayAndWithoutItNobodyElseMay() throws Exception {
    KubeApi.Running server = KubeApi.Running.start();
    Installed cluster = Installed.on(server);
    AuditLog.Mark before = server.audit().mark();
    PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    metrics.counter("shown").increment();
    try (KubernetesClient client = cluster.operator();
        HealthServer page =
            new HealthServer(0, () -> true, () -> true, metrics, new PageAccess(client, now::get));
        HttpClient http = HttpClient.newHttpClient()) {
      String namespace = cluster.namespace("readers");
      String stranger = token(cluster, namespace, "stranger");
      assertThat(get(http, page, "/metrics", stranger))
          .as("the operator may not ask")
          .isEqualTo(503);
      apply(cluster);
      String reader = token(cluster, namespace, "reader");
      String late = token(cluster, namespace, "late");
      bind(cluster, namespace, "reader");
      bind(cluster, namespace, "late");

      assertThat(get(http, page, "/metrics", null)).isEqualTo(401);
      assertThat(get(http, page, "/metrics", "nonsense")).isEqualTo(401);
      assertThat(get(http, page, "/metrics", stranger)).isEqualTo(403);
      assertThat(get(http, page, "/metrics", reader)).isEqualTo(200);
      assertThat(get(http, page, "/healthz", null)).as("probes have no token").isEqualTo(200);
      assertThat(
              server.audit().since(before).stream()
                  .filter(request -> request.user().equals(Installed.OPERATOR))
                  .flatMap(request -> request.rights().stream())
                  .distinct())
          .containsExactlyInAnyOrder(
              "create tokenreviews.authentication.k8s.io",
              "create subjectaccessreviews.authorization.k8s.io");

      bind(cluster, namespace, "stranger");
      assertThat(get(http, page, "/metrics", stranger)).as("kept").isEqualTo(403);
      later(Duration.ofSeconds(11));
      assertThat(get(http, page, "/metrics", stranger)).as("asked again").isEqualTo(200);

      server.close();
      assertThat(get(http, page, "/metrics", reader)).as("kept").isEqualTo(200);
      assertThat(get(http, page, "/metrics", late)).as("never asked before").isEqualTo(503);
      later(Duration.ofMinutes(3));
      assertThat(get(http, page, "/metrics", reader)).as("nobody says otherwise").isEqualTo(200);
      later(Duration.ofMinutes(8));
      assertThat(get(http, page, "/metrics", reader)).as("kept for too long").isEqualTo(503);
      assertThat(get(http, page, "/metrics", null)).isEqualTo(401);
    }
  }

  private void later(Duration time) {
    now.addAndGet(time.toNanos());
  }

  private static void apply(Installed cluster) throws IOException {
    try (InputStream in = Files.newInputStream(RBAC)) {
      for (HasMetadata object : cluster.admin().load(in).items()) {
        cluster.admin().resource(object).create();
      }
    }
    Map<String, String> rights =
        Map.of(
            "authentication.k8s.io", "tokenreviews",
            "authorization.k8s.io", "subjectaccessreviews");
    rights.forEach(
        (group, resource) ->
            awaitMay(
                cluster,
                new SubjectAccessReviewSpecBuilder()
                    .withUser(Installed.OPERATOR)
                    .withNewResourceAttributes()
                    .withGroup(group)
                    .withResource(resource)
                    .withVerb("create")
                    .endResourceAttributes()
                    .build()));
  }

  /** A right takes effect a moment after it is granted, and what it is not yet is kept. */
  private static void awaitMay(Installed cluster, SubjectAccessReviewSpec asked) {
    await()
        .until(
            () ->
                cluster
                    .admin()
                    .resource(new SubjectAccessReviewBuilder().withSpec(asked).build())
                    .create()
                    .getStatus()
                    .getAllowed());
  }

  private static void bind(Installed cluster, String namespace, String account) {
    cluster
        .admin()
        .resource(
            new ClusterRoleBindingBuilder()
                .withNewMetadata()
                .withName(namespace + "-" + account)
                .endMetadata()
                .withNewRoleRef(
                    "rbac.authorization.k8s.io", "ClusterRole", "fairlead-metrics-reader")
                .addNewSubject()
                .withKind("ServiceAccount")
                .withName(account)
                .withNamespace(namespace)
                .endSubject()
                .build())
        .create();
    awaitMay(
        cluster,
        new SubjectAccessReviewSpecBuilder()
            .withUser("system:serviceaccount:" + namespace + ":" + account)
            .withNewNonResourceAttributes()
            .withPath("/metrics")
            .withVerb("get")
            .endNonResourceAttributes()
            .build());
  }

  private static String token(Installed cluster, String namespace, String name) {
    ServiceAccount account =
        new ServiceAccountBuilder()
            .withNewMetadata()
            .withName(name)
            .withNamespace(namespace)
            .endMetadata()
            .build();
    cluster.admin().resource(account).create();
    return cluster
        .admin()
        .serviceAccounts()
        .inNamespace(namespace)
        .withName(name)
        .tokenRequest(
            new TokenRequestBuilder().withNewSpec().withExpirationSeconds(3600L).endSpec().build())
        .getStatus()
        .getToken();
  }

  private static int get(HttpClient http, HealthServer page, String path, @Nullable String token)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://localhost:" + page.port() + path));
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    HttpResponse<String> response =
        http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    assertThat(response.body().contains("shown_total"))
        .isEqualTo(response.statusCode() == 200 && path.equals("/metrics"));
    return response.statusCode();
  }
}
