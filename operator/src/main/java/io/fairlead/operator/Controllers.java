package io.fairlead.operator;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.operator.apply.ChildApplier;
import io.fairlead.operator.apply.Events;
import io.fairlead.operator.observe.Watched;
import io.fairlead.operator.reconcile.OrphanModelReconciler;
import io.fairlead.operator.reconcile.OrphanPickerReconciler;
import io.fairlead.operator.reconcile.PoolReconciler;
import io.fairlead.operator.reconcile.Settings;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.config.ControllerConfigurationOverrider;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.processing.retry.GenericRetry;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Set;

/** Puts the controllers on a client; they run from {@link Operator#start} to {@code stop}. */
final class Controllers {
  private static final int THREADS = 10;

  /**
   * How long the start waits for what is watched. Nothing is decided on less than all of it, see
   * {@link Watched#synced}; but a namespace that may not be watched must not hold the others up.
   */
  private static final Duration SYNC = Duration.ofSeconds(5);

  private Controllers() {}

  /**
   * Ready to be started.
   *
   * @param namespaces to watch; empty for all
   */
  static Operator on(
      KubernetesClient client,
      Settings settings,
      Set<String> namespaces,
      Metrics metrics,
      InstantSource clock,
      MeterRegistry meters) {
    Operator operator =
        new Operator(
            overrider ->
                overrider
                    .withKubernetesClient(client)
                    .withCloseClientOnStop(false)
                    .withConcurrentReconciliationThreads(THREADS)
                    // What cannot be watched is tried again and again; all else goes on.
                    .withStopOnInformerErrorDuringStartup(false)
                    .withCacheSyncTimeout(SYNC)
                    .withReconciliationTerminationTimeout(Duration.ofSeconds(2))
                    .withMetrics(metrics));
    Events events = new Events(client, clock);
    operator.register(
        new PoolReconciler(settings, client, clock, events, meters),
        config -> configure(config, namespaces));
    operator.register(
        new OrphanModelReconciler(client, clock, events), config -> configure(config, namespaces));
    operator.register(
        new OrphanPickerReconciler(client, clock, events), config -> configure(config, namespaces));
    return operator;
  }

  private static <P extends HasMetadata> void configure(
      ControllerConfigurationOverrider<P> config, Set<String> namespaces) {
    config
        .withFieldManager(ChildApplier.FIELD_MANAGER)
        .withRetry(
            new GenericRetry()
                .withoutMaxAttempts()
                .setInitialInterval(200)
                .setIntervalMultiplier(2)
                .setMaxInterval(30_000));
    if (!namespaces.isEmpty()) {
      config.settingNamespaces(namespaces);
    }
  }
}
