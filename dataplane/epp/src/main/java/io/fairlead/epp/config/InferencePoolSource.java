package io.fairlead.epp.config;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.watch.KindListener;
import io.fairlead.crds.watch.UpstreamKind;
import io.fairlead.crds.watch.WatchedKind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The config of an InferencePool as the API server tells of it, with upstream's InferenceObjectives
 * and InferenceModelRewrites, scheduled as another source says. Objects of the group {@code
 * llm-d.ai} are read where the cluster has their kind, else those of upstream's first group.
 *
 * <p>Offers are made on a thread of its own, once all is known that there is, or some seconds after
 * the start without a kind of objects that is not answered for; changes that come together are
 * looked at together, a moment later.
 */
public final class InferencePoolSource implements ConfigSource {

  private static final Logger LOG = LoggerFactory.getLogger(InferencePoolSource.class);

  private static final long SETTLE_MILLIS = 20;
  private static final String OLD_VERSION = "v1alpha2";

  private final PoolName name;
  private final ConfigSource scheduling;
  private final WatchedKind pools;
  private final UpstreamKind objectives;
  private final UpstreamKind rewrites;
  private final AtomicBoolean lookPlanned = new AtomicBoolean();
  private @Nullable ScheduledExecutorService thread;

  /** Confined to the thread. */
  private @Nullable ConfigOffer scheduled;

  private List<String> noted = List.of();

  /**
   * A source that is not watched yet; the client stays the caller's to close.
   *
   * @param group of the InferencePool: one of the two that have that kind
   * @param scheduling of whose offers only the scheduling counts; closed with this
   */
  public InferencePoolSource(
      KubernetesClient client,
      String namespace,
      String pool,
      String group,
      ConfigSource scheduling) {
    name = new PoolName(namespace, pool, group);
    this.scheduling = scheduling;
    String version = name.settled() ? InferencePool.VERSION : OLD_VERSION;
    pools = new WatchedKind(client, group, version, "InferencePool", namespace, pool);
    objectives = new UpstreamKind(client, "InferenceObjective", namespace);
    rewrites = new UpstreamKind(client, "InferenceModelRewrite", namespace);
  }

  @Override
  public void start(Consumer<ConfigOffer> sink) {
    ScheduledExecutorService made =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("fairlead-pool").factory());
    thread = made;
    Runnable plan = () -> plan(made, sink);
    scheduling.start(
        offer ->
            execute(
                made,
                () -> {
                  scheduled = offer;
                  plan.run();
                }));
    KindListener listener =
        new KindListener() {
          @Override
          public void changed(GenericKubernetesResource object) {
            plan.run();
          }

          @Override
          public void turned() {
            plan.run();
          }
        };
    pools.start(listener);
    objectives.start(listener);
    rewrites.start(listener);
  }

  @Override
  public ConfigOffer read() {
    return offer(scheduling.read(), pools.read(), objectives.read(), rewrites.read());
  }

  @Override
  public void close() {
    scheduling.close();
    pools.stop();
    objectives.stop();
    rewrites.stop();
    if (thread != null) {
      thread.shutdownNow();
    }
  }

  private void plan(ScheduledExecutorService on, Consumer<ConfigOffer> sink) {
    if (lookPlanned.compareAndSet(false, true)) {
      try {
        var _ = on.schedule(() -> look(on, sink), SETTLE_MILLIS, TimeUnit.MILLISECONDS);
      } catch (RejectedExecutionException e) {
        LOG.debug("a change was seen after the end", e);
      }
    }
  }

  private static void execute(ScheduledExecutorService on, Runnable task) {
    try {
      on.execute(task);
    } catch (RejectedExecutionException e) {
      LOG.debug("a change was seen after the end", e);
    }
  }

  private void look(ScheduledExecutorService on, Consumer<ConfigOffer> sink) {
    lookPlanned.set(false);
    ConfigOffer now = scheduled;
    // At the start nothing is in force that a refusal which is not believed yet could take away.
    // And a pool without its objectives and rewrites is better served than not at all.
    if (now == null || !pools.known() || objectives.awaited() || rewrites.awaited()) {
      plan(on, sink);
      return;
    }
    ConfigOffer offer =
        ConfigReaders.guarded(
            name.toString(),
            "unreadable",
            () -> offer(now, pools.objects(), objectives.objects(), rewrites.objects()));
    sink.accept(offer);
  }

  private ConfigOffer offer(
      ConfigOffer schedule,
      List<GenericKubernetesResource> pool,
      List<GenericKubernetesResource> objectivesNow,
      List<GenericKubernetesResource> rewritesNow) {
    ConfigOffer offer =
        pools.forbidden()
            ? PoolObjects.unreadable(name, "may not be read; grant get, list and watch of " + pools)
            : offer(
                schedule,
                new PoolObjects(
                    pool.isEmpty() ? null : pool.getFirst(), objectivesNow, rewritesNow));
    boolean noPool = offer.part() == null;
    return noPool
            && schedule instanceof ConfigOffer.Unreadable first
            && offer instanceof ConfigOffer.Unreadable second
        ? first.and(second)
        : offer;
  }

  private ConfigOffer offer(ConfigOffer schedule, PoolObjects objects) {
    List<String> notes = new ArrayList<>();
    ConfigOffer offer = objects.offer(name, schedule, notes);
    noteUnheard(objectives, notes);
    noteUnheard(rewrites, notes);
    tell(notes);
    return offer;
  }

  private static void noteUnheard(UpstreamKind kind, List<String> notes) {
    if (!kind.known() && !kind.heard()) {
      String groups =
          kind.deciding().stream().map(WatchedKind::toString).collect(Collectors.joining(", "));
      notes.add("no answer about " + groups + "; the pool runs without them until there is one");
    }
  }

  private void tell(List<String> notes) {
    if (!notes.equals(noted)) {
      noted = List.copyOf(notes);
      notes.forEach(LOG::warn);
    }
  }
}
