package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.watch.KindListener;
import io.fairlead.crds.watch.WatchedKind;
import io.fairlead.operator.children.PickerMonitor;
import io.javaoperatorsdk.operator.api.config.informer.InformerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** PodMonitors of pickers, where the cluster has the kind: it may come and go. */
final class MonitorSource extends AbstractEventSource<GenericKubernetesResource, InferencePool> {
  private final IndexerResourceCache<InferencePool> pools;
  private final List<WatchedKind> kinds = new ArrayList<>();

  /** Not yet started. */
  MonitorSource(EventSourceContext<InferencePool> context) {
    super(GenericKubernetesResource.class, "monitors");
    pools = context.getPrimaryCache();
    Set<String> namespaces = context.getControllerConfiguration().getEffectiveNamespaces();
    if (InformerConfiguration.allNamespacesWatched(namespaces)) {
      kinds.add(kind(context, null));
    } else {
      namespaces.forEach(namespace -> kinds.add(kind(context, namespace)));
    }
  }

  private static WatchedKind kind(
      EventSourceContext<InferencePool> context, @Nullable String namespace) {
    return new WatchedKind(
        context.getClient(),
        PickerMonitor.GROUP,
        PickerMonitor.VERSION,
        PickerMonitor.KIND,
        namespace,
        null);
  }

  @Override
  public void start() {
    super.start();
    KindListener listener =
        new KindListener() {
          @Override
          public void changed(GenericKubernetesResource monitor) {
            Ownership.pool(monitor)
                .ifPresent(
                    owner ->
                        wake(
                            new ResourceID(owner.getName(), monitor.getMetadata().getNamespace())));
          }

          @Override
          public void turned() {
            pools.list().map(ResourceID::fromResource).forEach(MonitorSource.this::wake);
          }
        };
    kinds.forEach(kind -> kind.start(listener));
  }

  private void wake(ResourceID pool) {
    getEventHandler().handleEvent(new Event(pool));
  }

  @Override
  public void stop() {
    kinds.forEach(WatchedKind::stop);
    super.stop();
  }

  /** Whether it is known which there are, perhaps none. */
  boolean known() {
    return kinds.stream().allMatch(WatchedKind::known);
  }

  /** Whether the cluster has the kind, and the operator may read it. */
  boolean readable() {
    return kinds.stream().allMatch(WatchedKind::readable);
  }

  /** Those that the pool controls. */
  List<GenericKubernetesResource> of(InferencePool pool) {
    return kinds.stream()
        .flatMap(kind -> kind.objects().stream())
        .filter(monitor -> Ownership.by(pool, monitor))
        .toList();
  }

  @Override
  public Set<GenericKubernetesResource> getSecondaryResources(InferencePool pool) {
    return of(pool).stream().collect(Collectors.toUnmodifiableSet());
  }
}
