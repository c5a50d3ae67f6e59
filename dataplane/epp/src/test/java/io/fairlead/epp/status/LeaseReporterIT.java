package io.fairlead.epp.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.http.Interceptor.RequestTags;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.testing.KubeApi;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The Lease of a picker that has nothing new to say. */
@ExtendWith(KubeApi.class)
class LeaseReporterIT {

  private static final String POD = "pool-epp-0";

  private final KubernetesClient admin;
  private final String namespace;
  private final AtomicInteger writes = new AtomicInteger();

  LeaseReporterIT(KubeApi.Running api) {
    admin = api.client();
    namespace =
        admin
            .resource(
                new NamespaceBuilder()
                    .withNewMetadata()
                    .withGenerateName("lease-")
                    .endMetadata()
                    .build())
            .create()
            .getMetadata()
            .getName();
  }

  private @Nullable Lease lease() {
    return admin.leases().inNamespace(namespace).withName(POD).get();
  }

  @Test
  void isWrittenAgainOnceItIsGoneAndStoredOnlyThen() {
    Interceptor counting =
        new Interceptor() {
          @Override
          public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
            writes.incrementAndGet();
          }
        };
    try (KubernetesClient client =
            new KubernetesClientBuilder()
                .withConfig(admin.getConfiguration())
                .withHttpClientBuilderConsumer(
                    http -> http.addOrReplaceInterceptor("writes", counting))
                .build();
        LeaseReporter reporter =
            new LeaseReporter(
                client,
                new LeaseReporter.Identity("pool", POD, namespace, "uid"),
                Duration.ofMillis(100))) {
      reporter.report(PickerReport.EMPTY);
      await().until(() -> lease() != null);
      Lease first = Objects.requireNonNull(lease());
      int before = writes.get();
      await().until(() -> writes.get() >= before + 3);
      assertThat(Objects.requireNonNull(lease()).getMetadata().getResourceVersion())
          .as("nobody is told of a write that changes nothing")
          .isEqualTo(first.getMetadata().getResourceVersion());

      admin.resource(first).delete();
      await().until(() -> lease() != null);
      assertThat(Objects.requireNonNull(lease()).getMetadata().getAnnotations())
          .containsEntry(PickerReport.ANNOTATION, PickerReport.EMPTY.toJson());
    }
  }
}
