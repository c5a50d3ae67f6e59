package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.crds.compile.PoolMembers;
import io.fairlead.crds.compile.UpstreamObjects;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.watch.KindListener;
import io.fairlead.crds.watch.UpstreamKind;
import io.javaoperatorsdk.operator.api.config.informer.InformerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.health.InformerHealthIndicator;
import io.javaoperatorsdk.operator.health.InformerWrappingEventSourceHealthIndicator;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * InferenceObjectives and InferenceModelRewrites, as the pickers that run without us read them. The
 * framework's own informers take a kind that the cluster lacks for a failure, and wait for it;
 * these take that for an answer.
 */
final class UpstreamSource extends AbstractEventSource<GenericKubernetesResource, InferencePool> {

  private static final Logger LOG = LoggerFactory.getLogger(UpstreamSource.class);

  /** How soon to look again while it isn't known which pools there are. */
  private static final Duration NOT_KNOWN = Duration.ofSeconds(1);

  private static final Duration FAILED = Duration.ofSeconds(5);

  private final IndexerResourceCache<InferencePool> pools;
  private final List<UpstreamKind> objectives;
  private final List<UpstreamKind> rewrites;
  private final Consumer<GenericKubernetesResource> orphaned;
  private final ScheduledExecutorService looks =
      Executors.newSingleThreadScheduledExecutor(Thread.ofVirtual().name("orphans").factory());

  /**
   * Not yet started.
   *
   * @param orphaned told of objects that name no pool that is there; called on a thread that may
   *     block
   */
  UpstreamSource(
      EventSourceContext<InferencePool> context, Consumer<GenericKubernetesResource> orphaned) {
    super(GenericKubernetesResource.class, "upstream");
    pools = context.getPrimaryCache();
    this.orphaned = orphaned;
    Set<String> namespaces = context.getControllerConfiguration().getEffectiveNamespaces();
    objectives = kinds(context.getClient(), "InferenceObjective", namespaces);
    rewrites = kinds(context.getClient(), "InferenceModelRewrite", namespaces);
  }

  private static List<UpstreamKind> kinds(
      KubernetesClient client, String kind, Set<String> namespaces) {
    List<UpstreamKind> kinds = new ArrayList<>();
    if (InformerConfiguration.allNamespacesWatched(namespaces)) {
      kinds.add(new UpstreamKind(client, kind, null));
    } else {
      namespaces.forEach(namespace -> kinds.add(new UpstreamKind(client, kind, namespace)));
    }
    return List.copyOf(kinds);
  }

  @Override
  public void start() {
    super.start();
    KindListener listener =
        new KindListener() {
          @Override
          public void changed(GenericKubernetesResource object) {
            String pool = PoolMembers.pool(object);
            if (pool != null) {
              wake(new ResourceID(pool, object.getMetadata().getNamespace()));
            }
            if (isOrphan(object)) {
              later(object, Duration.ZERO);
            }
          }

          @Override
          public void turned() {
            pools.list().map(ResourceID::fromResource).forEach(UpstreamSource.this::wake);
          }
        };
    all().forEach(kind -> kind.start(listener));
  }

  private boolean isOrphan(GenericKubernetesResource object) {
    String pool = PoolMembers.pool(object);
    return pool == null
        || pools.get(new ResourceID(pool, object.getMetadata().getNamespace())).isEmpty();
  }

  private void later(GenericKubernetesResource object, Duration wait) {
    try {
      var _ = looks.schedule(() -> look(object), wait.toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // The source is being stopped.
    }
  }

  /** Tells of the object as it is now, once it is known which pools there are. */
  private void look(GenericKubernetesResource seen) {
    if (!poolsKnown(seen.getMetadata().getNamespace())) {
      later(seen, NOT_KNOWN);
      return;
    }
    String uid = seen.getMetadata().getUid();
    all()
        .flatMap(kind -> Stream.concat(kind.objects().stream(), kind.superseded().stream()))
        .filter(object -> uid.equals(object.getMetadata().getUid()))
        .filter(object -> !object.isMarkedForDeletion() && isOrphan(object))
        .findFirst()
        .ifPresent(
            object -> {
              try {
                orphaned.accept(object);
              } catch (KubernetesClientException | IllegalStateException e) {
                LOG.warn(
                    "{} {}/{} could not be told that it has no pool, trying again: {}",
                    object.getKind(),
                    object.getMetadata().getNamespace(),
                    object.getMetadata().getName(),
                    e.getMessage());
                later(object, FAILED);
              }
            });
  }

  private boolean poolsKnown(@Nullable String namespace) {
    if (!(pools instanceof InformerWrappingEventSourceHealthIndicator<?> watch)) {
      return true;
    }
    Map<String, InformerHealthIndicator> informers = watch.informerHealthIndicators();
    InformerHealthIndicator one = informers.get(namespace);
    return one == null
        ? informers.values().stream().allMatch(InformerHealthIndicator::hasSynced)
        : one.hasSynced();
  }

  private void wake(ResourceID pool) {
    getEventHandler().handleEvent(new Event(pool));
  }

  @Override
  public void stop() {
    all().forEach(UpstreamKind::stop);
    looks.shutdownNow();
    super.stop();
  }

  /** Whether it is known which objects there are, perhaps none. */
  boolean known() {
    return all().allMatch(UpstreamKind::known);
  }

  /** Those that name the pool. */
  UpstreamObjects of(@Nullable String namespace, String pool) {
    return new UpstreamObjects(
        of(objectives, UpstreamKind::objects, namespace, pool),
        of(rewrites, UpstreamKind::objects, namespace, pool));
  }

  /** Those that name the pool and don't count, since the cluster has their kind twice. */
  List<GenericKubernetesResource> superseded(@Nullable String namespace, String pool) {
    return of(all().toList(), UpstreamKind::superseded, namespace, pool);
  }

  private static List<GenericKubernetesResource> of(
      List<UpstreamKind> kinds,
      Function<UpstreamKind, List<GenericKubernetesResource>> holds,
      @Nullable String namespace,
      String pool) {
    return kinds.stream()
        .flatMap(kind -> holds.apply(kind).stream())
        .filter(object -> String.valueOf(namespace).equals(object.getMetadata().getNamespace()))
        .filter(object -> pool.equals(PoolMembers.pool(object)))
        .toList();
  }

  private Stream<UpstreamKind> all() {
    return Stream.concat(objectives.stream(), rewrites.stream());
  }

  @Override
  public Set<GenericKubernetesResource> getSecondaryResources(InferencePool pool) {
    return of(pool.getMetadata().getNamespace(), pool.getMetadata().getName())
        .all()
        .collect(Collectors.toUnmodifiableSet());
  }
}
