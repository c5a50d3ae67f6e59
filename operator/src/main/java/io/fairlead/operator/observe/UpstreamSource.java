package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.compile.PoolMembers;
import io.fairlead.crds.compile.UpstreamObjects;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.watch.KindListener;
import io.fairlead.crds.watch.UpstreamKind;
import io.javaoperatorsdk.operator.api.config.informer.InformerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * InferenceObjectives and InferenceModelRewrites, as the pickers that run without us read them. The
 * framework's own informers take a kind that the cluster lacks for a failure, and wait for it;
 * these take that for an answer.
 */
final class UpstreamSource extends AbstractEventSource<GenericKubernetesResource, InferencePool> {
  private static final Duration FAILED = Duration.ofSeconds(5);

  private final IndexerResourceCache<InferencePool> pools;
  private final List<UpstreamKind> objectives;
  private final List<UpstreamKind> rewrites;
  private final OrphanLooks<String, GenericKubernetesResource> looks;

  /**
   * Not yet started.
   *
   * @param all pools that there are
   * @param tell objects that name no pool that is seen, as {@link Orphaned} does
   */
  UpstreamSource(
      EventSourceContext<InferencePool> context,
      Pools all,
      BiFunction<GenericKubernetesResource, BooleanSupplier, Optional<Duration>> tell) {
    super(GenericKubernetesResource.class, "upstream");
    pools = context.getPrimaryCache();
    Set<String> namespaces = context.getControllerConfiguration().getEffectiveNamespaces();
    objectives = kinds(context.getClient(), "InferenceObjective", namespaces);
    rewrites = kinds(context.getClient(), "InferenceModelRewrite", namespaces);
    looks =
        new OrphanLooks<>(
            object -> object.getMetadata().getUid(),
            this::find,
            PoolMembers::pool,
            all,
            tell,
            FAILED);
    all.listen(
        pool ->
            of(
                    kinds().toList(),
                    kind -> kind.all().toList(),
                    pool.getNamespace().orElse(null),
                    pool.getName())
                .forEach(looks::poolChanged));
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
            looks.changed(object);
          }

          @Override
          public void turned() {
            pools.list().map(ResourceID::fromResource).forEach(UpstreamSource.this::wake);
          }
        };
    kinds().forEach(kind -> kind.start(listener));
  }

  private Optional<GenericKubernetesResource> find(String uid) {
    return kinds()
        .flatMap(UpstreamKind::all)
        .filter(object -> uid.equals(object.getMetadata().getUid()))
        .findFirst();
  }

  private void wake(ResourceID pool) {
    getEventHandler().handleEvent(new Event(pool));
  }

  @Override
  public void stop() {
    kinds().forEach(UpstreamKind::stop);
    looks.close();
    super.stop();
  }

  /** Whether nothing was heard yet of a kind in the namespace, nor could have been. */
  boolean isAwaited(@Nullable String namespace) {
    return kinds().anyMatch(kind -> kind.isOf(namespace) && kind.awaited());
  }

  /** What is not known of the namespace. */
  Unread unread(@Nullable String namespace) {
    List<UpstreamKind> here = kinds().filter(kind -> kind.isOf(namespace)).toList();
    return new Unread(
        here.stream()
            .filter(kind -> !kind.known())
            .map(UpstreamKind::kind)
            .collect(Collectors.toUnmodifiableSet()),
        here.stream()
            .flatMap(kind -> kind.deciding().stream())
            .map(KindProblem::of)
            .filter(Objects::nonNull)
            .toList());
  }

  /** Those that name the pool; none of a kind while it is not known which of it count. */
  UpstreamObjects of(@Nullable String namespace, String pool) {
    return new UpstreamObjects(
        of(objectives, UpstreamSource::counting, namespace, pool),
        of(rewrites, UpstreamSource::counting, namespace, pool));
  }

  private static List<GenericKubernetesResource> counting(UpstreamKind kind) {
    return kind.known() ? kind.objects() : List.of();
  }

  /** Those that name the pool and don't count, since the cluster has their kind twice. */
  List<GenericKubernetesResource> superseded(@Nullable String namespace, String pool) {
    return of(kinds().toList(), UpstreamKind::superseded, namespace, pool);
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

  private Stream<UpstreamKind> kinds() {
    return Stream.concat(objectives.stream(), rewrites.stream());
  }

  @Override
  public Set<GenericKubernetesResource> getSecondaryResources(InferencePool pool) {
    return of(pool.getMetadata().getNamespace(), pool.getMetadata().getName())
        .all()
        .collect(Collectors.toUnmodifiableSet());
  }
}
