package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.watch.KindListener;
import io.fairlead.crds.watch.WatchedKind;
import io.fairlead.operator.children.PickerMonitor;
import io.fairlead.operator.status.Verdict;
import io.javaoperatorsdk.operator.api.config.informer.InformerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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

  /** Whether nothing was heard yet of those in the namespace, nor could have been. */
  boolean isAwaited(@Nullable String namespace) {
    return of(namespace).anyMatch(WatchedKind::awaited);
  }

  /** Whether the cluster has the kind, and the operator may read it in the namespace. */
  boolean readable(@Nullable String namespace) {
    return of(namespace).allMatch(WatchedKind::readable);
  }

  /** Whether it is not known which there are in the namespace, nor has been since the start. */
  boolean isUnknown(@Nullable String namespace) {
    return !of(namespace).allMatch(WatchedKind::known);
  }

  /**
   * Why it is not known which there are in the namespace; null when it is, or not yet known why.
   */
  @Nullable Verdict problem(@Nullable String namespace) {
    return of(namespace)
        .filter(kind -> !kind.known())
        .map(KindProblem::of)
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  private Stream<WatchedKind> of(@Nullable String namespace) {
    return kinds.stream().filter(kind -> kind.isOf(namespace));
  }

  /** Those that the pool controls. */
  List<GenericKubernetesResource> of(InferencePool pool) {
    return of(pool.getMetadata().getNamespace())
        .flatMap(kind -> kind.objects().stream())
        .filter(monitor -> Ownership.by(pool, monitor) || Ownership.byOlder(pool, monitor))
        .toList();
  }

  @Override
  public Set<GenericKubernetesResource> getSecondaryResources(InferencePool pool) {
    return of(pool).stream().collect(Collectors.toUnmodifiableSet());
  }
}
