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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
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

  private final IndexerResourceCache<InferencePool> pools;
  private final List<UpstreamKind> objectives;
  private final List<UpstreamKind> rewrites;

  /** Not yet started. */
  UpstreamSource(EventSourceContext<InferencePool> context) {
    super(GenericKubernetesResource.class, "upstream");
    pools = context.getPrimaryCache();
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
          }

          @Override
          public void turned() {
            pools.list().map(ResourceID::fromResource).forEach(UpstreamSource.this::wake);
          }
        };
    all().forEach(kind -> kind.start(listener));
  }

  private void wake(ResourceID pool) {
    getEventHandler().handleEvent(new Event(pool));
  }

  @Override
  public void stop() {
    all().forEach(UpstreamKind::stop);
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
