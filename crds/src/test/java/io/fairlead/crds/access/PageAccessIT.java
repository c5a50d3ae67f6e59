package io.fairlead.crds.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.access.PageAccess.Answer;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What is asked of an API server of its own, so that nobody else asks it the same. */
class PageAccessIT {

  private static final String PATH = "/metrics";

  @Test
  void whoMayIsAskedForOnceHoweverManyMayNotCome() {
    try (KubeApi.Running server = KubeApi.Running.start()) {
      String reader = "Bearer " + reader(server.client());
      // A right takes effect a moment after it is granted.
      await()
          .until(
              () -> new PageAccess(server.client(), () -> 0).ask(reader, PATH) == Answer.ALLOWED);
      PageAccess access = new PageAccess(server.client(), () -> 0);
      assertThat(access.ask(reader, PATH)).isEqualTo(Answer.ALLOWED);

      for (int i = 0; i < PageAccess.MOST_KEPT; i++) {
        assertThat(access.ask("Bearer garbage" + i, PATH)).isEqualTo(Answer.UNAUTHENTICATED);
      }

      AuditLog.Mark mark = server.audit().mark();
      assertThat(access.ask(reader, PATH)).isEqualTo(Answer.ALLOWED);
      assertThat(reviews(server, mark)).isEmpty();
      String last = "Bearer garbage" + (PageAccess.MOST_KEPT - 1);
      assertThat(access.ask(last, PATH)).isEqualTo(Answer.UNAUTHENTICATED);
      assertThat(reviews(server, mark)).isEmpty();
    }
  }

  private static Stream<String> reviews(KubeApi.Running server, AuditLog.Mark since) {
    return server.audit().since(since).stream()
        .map(AuditLog.Request::resource)
        .filter(resource -> resource.endsWith("reviews"));
  }

  /** The token of an account that may get the page. */
  private static String reader(KubernetesClient admin) {
    admin
        .resource(
            new ServiceAccountBuilder()
                .withNewMetadata()
                .withName("reader")
                .withNamespace("default")
                .endMetadata()
                .build())
        .create();
    admin
        .resource(
            new ClusterRoleBuilder()
                .withNewMetadata()
                .withName("page-reader")
                .endMetadata()
                .addNewRule()
                .withNonResourceURLs(PATH)
                .withVerbs("get")
                .endRule()
                .build())
        .create();
    admin
        .resource(
            new ClusterRoleBindingBuilder()
                .withNewMetadata()
                .withName("page-reader")
                .endMetadata()
                .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", "page-reader")
                .addNewSubject("", "ServiceAccount", "reader", "default")
                .build())
        .create();
    return admin
        .serviceAccounts()
        .inNamespace("default")
        .withName("reader")
        .tokenRequest(
            new TokenRequestBuilder().withNewSpec().withExpirationSeconds(3600L).endSpec().build())
        .getStatus()
        .getToken();
  }
}
