package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.v1alpha2.OldInferencePool;
import io.fairlead.crds.watch.KindListener;
import io.fairlead.crds.watch.WatchedKind;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which pools there are of the older group, where the cluster has it: it may come and go.
 *
 * <p>Safe to use from any thread.
 */
public final class OldPools implements Pools {
  private final List<WatchedKind> kinds;
  private final List<Consumer<ResourceID>> listeners = new CopyOnWriteArrayList<>();

  /**
   * Not yet started.
   *
   * @param namespaces to watch; empty for all
   */
  public OldPools(KubernetesClient client, Set<String> namespaces) {
    kinds =
        namespaces.isEmpty()
            ? List.of(kind(client, null))
            : namespaces.stream().map(namespace -> kind(client, namespace)).toList();
  }

  private static WatchedKind kind(KubernetesClient client, @Nullable String namespace) {
    return new WatchedKind(
        client,
        OldInferencePool.GROUP,
        OldInferencePool.VERSION,
        OldInferencePool.KIND,
        namespace,
        null);
  }

  /**
   * Begins to watch.
   *
   * @param there told, perhaps more than once, that the cluster has the kind and it may be read;
   *     must not block
   */
  public void start(Runnable there) {
    KindListener listener =
        new KindListener() {
          @Override
          public void changed(GenericKubernetesResource pool) {
            tell(pool);
          }

          @Override
          public void turned() {
            if (kinds.stream().anyMatch(WatchedKind::readable)) {
              there.run();
            }
            kinds.forEach(kind -> kind.objects().forEach(this::changed));
          }
        };
    kinds.forEach(kind -> kind.start(listener));
  }

  private void tell(GenericKubernetesResource pool) {
    ResourceID id = ResourceID.fromResource(pool);
    listeners.forEach(listener -> listener.accept(id));
  }

  /** Ends the watch. */
  public void stop() {
    kinds.forEach(WatchedKind::stop);
  }

  @Override
  public void listen(Consumer<ResourceID> listener) {
    listeners.add(listener);
  }

  /** Also where an answer does not come: that must not hold up those who need none of them. */
  @Override
  public boolean known(@Nullable String namespace) {
    return of(namespace).noneMatch(WatchedKind::awaited);
  }

  @Override
  public boolean has(@Nullable String namespace, String name) {
    return of(namespace)
        .flatMap(kind -> kind.objects().stream())
        .anyMatch(
            pool ->
                pool.getMetadata().getName().equals(name)
                    && String.valueOf(namespace).equals(pool.getMetadata().getNamespace()));
  }

  private Stream<WatchedKind> of(@Nullable String namespace) {
    return kinds.stream().filter(kind -> kind.isOf(namespace));
  }
}
