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
import java.util.stream.IntStream;
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
                Duration.ofMillis(100),
                LeaseReporter.RENEW)) {
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

  /** Else nobody could tell a picker that has nothing to say from one that is cut off. */
  @Test
  void isRenewedWhereNothingChanges() {
    try (LeaseReporter reporter =
        new LeaseReporter(
            admin,
            new LeaseReporter.Identity("pool", POD, namespace, "uid"),
            Duration.ofMillis(100),
            Duration.ofMillis(200))) {
      reporter.report(PickerReport.EMPTY);
      await().until(() -> lease() != null);
      Lease first = Objects.requireNonNull(lease());
      await()
          .untilAsserted(
              () -> {
                Lease now = Objects.requireNonNull(lease());
                assertThat(now.getSpec().getRenewTime()).isAfter(first.getSpec().getRenewTime());
                assertThat(now.getMetadata().getAnnotations())
                    .isEqualTo(first.getMetadata().getAnnotations());
              });
    }
  }

  /** The API server takes 256 KiB of annotations in all, and nothing of an object with more. */
  @Test
  void aReportThatIsTooLongIsCutAndArrives() {
    String wide = "\uD83D\uDEA2".repeat(100_000);
    PickerReport report =
        new PickerReport(
            "ns/pool",
            null,
            1,
            new PickerReport.Refused(null, "x" + wide),
            new PickerReport.Endpoints(1, 1, null),
            null,
            IntStream.range(0, 50)
                .mapToObj(i -> new PickerReport.ShadowOff("shadow-" + i, "\u0001" + wide))
                .toList());
    try (LeaseReporter reporter =
        new LeaseReporter(
            admin,
            new LeaseReporter.Identity("pool", POD, namespace, "uid"),
            Duration.ofMinutes(5),
            LeaseReporter.RENEW)) {
      reporter.report(report);
      await().until(() -> lease() != null);
      String json =
          Objects.requireNonNull(
              Objects.requireNonNull(lease())
                  .getMetadata()
                  .getAnnotations()
                  .get(PickerReport.ANNOTATION));
      PickerReport told = PickerReport.fromJson(json).orElseThrow();
      assertThat(told.generation()).isEqualTo(1);
      assertThat(told.shadowsOff()).hasSize(50);
      assertThat(Objects.requireNonNull(told.refused()).message())
          .startsWith("x\uD83D\uDEA2")
          .endsWith("… (cut, 200001 characters in all)")
          .doesNotContain("\uFFFD");
    }
  }
}
