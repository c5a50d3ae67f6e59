package io.fairlead.operator;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.crds.v1alpha2.OldInferencePool;
import io.fairlead.operator.apply.Events;
import io.fairlead.operator.apply.LostEntries;
import io.fairlead.operator.apply.RolloutTurns;
import io.fairlead.operator.observe.LeanStore;
import io.fairlead.operator.observe.OldPools;
import io.fairlead.operator.observe.Ownership;
import io.fairlead.operator.observe.Watched;
import io.fairlead.operator.reconcile.OldPoolReconciler;
import io.fairlead.operator.reconcile.PoolReconciler;
import io.fairlead.operator.reconcile.Settings;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.RegisteredController;
import io.javaoperatorsdk.operator.api.config.Cloner;
import io.javaoperatorsdk.operator.api.config.ConfigurationServiceOverrider;
import io.javaoperatorsdk.operator.api.config.ControllerConfigurationOverrider;
import io.javaoperatorsdk.operator.api.monitoring.AggregatedMetrics;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.health.InformerWrappingEventSourceHealthIndicator;
import io.javaoperatorsdk.operator.processing.retry.GenericRetry;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The controllers on a client. Pools of the older group are another controller's, on informers of
 * its own, from when the cluster is seen to have that group: the framework takes a kind that is
 * missing for a failure.
 */
final class Controllers extends Operator {
  private static final Logger LOG = LoggerFactory.getLogger(Controllers.class);

  /**
   * Pools that are looked at at a time: a look is mostly waiting for the API server. With 20, 300
   * pools and 1,000 models converge in 4.3 to 4.9 s; with 10 in 5.4 to 5.9, with 4 in 7.3.
   */
  private static final int THREADS = 20;

  /**
   * How long the start waits for what is watched. Nothing is decided on less than all of it, see
   * {@link Watched#synced}; but a namespace that may not be watched must not hold the others up.
   */
  private static final Duration SYNC = Duration.ofSeconds(5);

  /** Unless the client knows them, it reads what a watch brings of them twice. */
  private static final List<Class<? extends HasMetadata>> KINDS =
      List.of(InferencePool.class, InferenceModel.class, EndpointPicker.class);

  /** When the controller of the older group is tried again that could not be started. */
  private static final Duration AGAIN = Duration.ofSeconds(30);

  private final OldPools oldPools;
  private final Supplier<Operator> ofOldPools;
  private final Executor later;
  private boolean isTriedLater;
  private boolean stopped;
  private volatile @Nullable Operator old;

  /**
   * @param ofOldPools makes the controller of the older group
   * @param again when that is tried again
   */
  Controllers(
      Consumer<ConfigurationServiceOverrider> config,
      OldPools oldPools,
      Supplier<Operator> ofOldPools,
      Duration again) {
    super(config);
    this.oldPools = oldPools;
    this.ofOldPools = ofOldPools;
    later =
        CompletableFuture.delayedExecutor(
            again.toMillis(), TimeUnit.MILLISECONDS, Controllers::startThread);
  }

  private static void startThread(Runnable task) {
    Thread.ofVirtual().name("old-pools").start(task);
  }

  /**
   * Ready to be started.
   *
   * @param namespaces to watch; empty for all
   */
  static Controllers on(
      KubernetesClient client,
      Settings settings,
      Set<String> namespaces,
      Metrics metrics,
      InstantSource clock,
      MeterRegistry meters) {
    KINDS.forEach(client.getKubernetesSerialization()::registerKubernetesResource);
    Events events = new Events(client, clock);
    RolloutTurns turns = new RolloutTurns(settings.maxRollouts(), System::nanoTime);
    LostEntries lostEntries = new LostEntries(System::nanoTime, meters);
    OldPools oldPools = new OldPools(client, namespaces);
    PoolReconciler pools =
        new PoolReconciler(settings, turns, oldPools, client, clock, events, lostEntries);
    Controllers controllers =
        new Controllers(
            config -> configure(config, client, metrics, pools.deletions()),
            oldPools,
            () -> {
              OldPoolReconciler old =
                  new OldPoolReconciler(
                      pools.pools(), oldPools, settings, turns, client, clock, events, lostEntries);
              Operator operator =
                  new Operator(config -> configure(config, client, metrics, old.deletions()));
              operator.register(old, config -> configure(config, namespaces));
              return operator;
            },
            AGAIN);
    controllers.register(pools, config -> configure(config, namespaces));
    Gauge.builder("fairlead.operator.informers.unwatched", controllers, Controllers::unwatched)
        .description("Watches of kinds that are not open, so that changes are not seen.")
        .register(meters);
    return controllers;
  }

  @Override
  public synchronized void start() {
    oldPools.start(() -> startThread(this::startOld));
    super.start();
  }

  private synchronized void startOld() {
    if (stopped || old != null) {
      return;
    }
    LOG.info("the cluster has InferencePools of {}, too", OldInferencePool.GROUP);
    Operator made = null;
    try {
      made = ofOldPools.get();
      made.start();
      old = made;
    } catch (RuntimeException e) {
      if (made != null) {
        discard(made, e);
      }
      LOG.error("they cannot be served yet; that is tried again", e);
      tryLater();
    }
  }

  /** What did not start may not stop either. */
  private static void discard(Operator made, RuntimeException why) {
    try {
      made.stop();
    } catch (RuntimeException e) {
      why.addSuppressed(e);
    }
  }

  /** Nothing may tell of the kind once more. */
  private void tryLater() {
    if (!isTriedLater) {
      isTriedLater = true;
      later.execute(
          () -> {
            synchronized (this) {
              isTriedLater = false;
              startOld();
            }
          });
    }
  }

  @Override
  public synchronized void stop() {
    stopped = true;
    oldPools.stop();
    if (old != null) {
      old.stop();
    }
    super.stop();
  }

  /** Informers that tell of no changes now, for whatever reason. */
  private long unwatched() {
    return running()
        .flatMap(
            controller ->
                controller
                    .getControllerHealthInfo()
                    .informerEventSourceHealthIndicators()
                    .values()
                    .stream())
        .mapToLong(Controllers::unwatched)
        .sum();
  }

  private static long unwatched(InformerWrappingEventSourceHealthIndicator<?> source) {
    return source.informerHealthIndicators().values().stream()
        .filter(informer -> !informer.isWatching())
        .count();
  }

  /** Of all controllers that run. */
  Stream<RegisteredController<?>> running() {
    return Stream.of(this, old)
        .filter(Objects::nonNull)
        .flatMap(operator -> operator.getRuntimeInfo().getRegisteredControllers().stream())
        .map(controller -> (RegisteredController<?>) controller);
  }

  private static void configure(
      ConfigurationServiceOverrider config,
      KubernetesClient client,
      Metrics metrics,
      Metrics deletions) {
    config
        .withKubernetesClient(client)
        .withCloseClientOnStop(false)
        .withConcurrentReconciliationThreads(THREADS)
        // What cannot be watched is tried again and again; all else goes on.
        .withStopOnInformerErrorDuringStartup(false)
        .withCacheSyncTimeout(SYNC)
        .withReconciliationTerminationTimeout(Duration.ofSeconds(2))
        .withResourceCloner(new Shared())
        .withMetrics(new AggregatedMetrics(List.of(metrics, deletions)));
  }

  /**
   * What informers hold is handed out as it is: nobody here changes it, patches are objects of
   * their own. The usual copy by way of JSON, of each pool that is looked at, is for those who do.
   */
  private static final class Shared implements Cloner {
    @Override
    public <R extends HasMetadata> R clone(R object) {
      return object;
    }
  }

  private static <P extends HasMetadata> void configure(
      ControllerConfigurationOverrider<P> config, Set<String> namespaces) {
    config
        .withFieldManager(Ownership.FIELD_MANAGER)
        .withRetry(
            new GenericRetry()
                .withoutMaxAttempts()
                .setInitialInterval(200)
                .setIntervalMultiplier(2)
                .setMaxInterval(30_000));
    if (namespaces.isEmpty()) {
      // Informers of single namespaces would share one store.
      config.withItemStore(new LeanStore<>());
    } else {
      config.settingNamespaces(namespaces);
    }
  }
}
