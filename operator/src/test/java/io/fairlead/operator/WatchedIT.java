package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.observe.Watched;
import io.fairlead.operator.testing.Installed;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What is there is seen at every moment, also while it changes. */
@ExtendWith(KubeApi.class)
class WatchedIT {
  private static final int CHANGES = 400;

  /** Else a picker's report, or a model, would be gone for a moment at every change of it. */
  @Test
  void anObjectIsFoundWhileItChanges(KubeApi.Running server) {
    Installed cluster = Installed.on(server);
    String namespace = cluster.namespace("watched");
    Lease lease =
        cluster
            .admin()
            .resource(
                new LeaseBuilder()
                    .withNewMetadata()
                    .withName("there")
                    .withNamespace(namespace)
                    .endMetadata()
                    .build())
            .create();
    Watching watching = new Watching();
    Operator operator =
        new Operator(
            overrider ->
                overrider.withKubernetesClient(cluster.admin()).withCloseClientOnStop(false));
    operator.register(watching, config -> config.settingNamespaces(Set.of(namespace)));
    Watched<Lease, InferencePool> leases = Objects.requireNonNull(watching.leases);
    assertThat(leases.find(namespace, "there")).as("before it begins").isEmpty();
    operator.start();
    try {
      assertThat(leases.find(namespace, "there")).hasSize(1);
      CompletableFuture<Void> changes =
          CompletableFuture.runAsync(
              () -> {
                for (int i = 0; i < CHANGES; i++) {
                  cluster
                      .admin()
                      .resource(lease)
                      .patch(
                          PatchContext.of(PatchType.JSON_MERGE),
                          "{\"metadata\":{\"labels\":{\"example.test/change\":\"%d\"}}}"
                              .formatted(i));
                }
              },
              // Not in the common pool, in which the client's answers arrive.
              task -> Thread.ofVirtual().start(task));
      int missed = 0;
      while (!changes.isDone()) {
        missed += leases.find(namespace, "there").isEmpty() ? 1 : 0;
      }
      changes.join();
      assertThat(missed).isZero();
      List<String> told = new CopyOnWriteArrayList<>();
      leases.listen(one -> told.add(one.getMetadata().getName()));
      cluster.admin().resource(lease).delete();
      await().untilAsserted(() -> assertThat(told).as("that it is gone").contains("there"));
    } finally {
      operator.stop();
    }
  }

  @ControllerConfiguration(name = "watching")
  private static final class Watching implements Reconciler<InferencePool> {
    private @Nullable Watched<Lease, InferencePool> leases;

    @Override
    public List<EventSource<?, InferencePool>> prepareEventSources(
        EventSourceContext<InferencePool> context) {
      leases =
          new Watched<>(
              Lease.class,
              null,
              lease ->
                  Watched.key(lease.getMetadata().getNamespace(), lease.getMetadata().getName()),
              lease -> Set.of(),
              context);
      return List.of(leases);
    }

    @Override
    public UpdateControl<InferencePool> reconcile(
        InferencePool pool, Context<InferencePool> context) {
      return UpdateControl.noUpdate();
    }
  }
}
