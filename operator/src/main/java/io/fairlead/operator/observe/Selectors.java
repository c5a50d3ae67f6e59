package io.fairlead.operator.observe;

import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.children.Labels;
import io.fairlead.operator.children.Names;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * By which labels pools select. One whose picker's pods get labels from its author is woken when
 * another pool of the namespace selects by others than before: it may select these pods. One that
 * selects by the name of a picker is woken when the pool of that picker comes or goes.
 */
public final class Selectors extends AbstractEventSource<InferencePool, InferencePool> {
  private final IndexerResourceCache<InferencePool> pools;
  private final Watched<EndpointPicker, InferencePool> pickers;

  /** As each pool had it when it was last looked at. */
  private final Map<ResourceID, Map<String, String>> last = new ConcurrentHashMap<>();

  Selectors(
      IndexerResourceCache<InferencePool> pools, Watched<EndpointPicker, InferencePool> pickers) {
    super(InferencePool.class, "selectors");
    this.pools = pools;
    this.pickers = pickers;
  }

  /** Whether another pool may select the picker's pods by what its author says. */
  static boolean givesLabels(EndpointPicker picker) {
    return picker.getSpec() != null
        && picker.getSpec().podTemplate() != null
        && !picker.getSpec().podTemplate().labels().isEmpty();
  }

  /** Those of all other pools of the namespace, by their names; none that selects nothing. */
  Map<String, Map<String, String>> ofOthers(InferencePool pool) {
    String name = pool.getMetadata().getName();
    return pools
        .list(
            pool.getMetadata().getNamespace(),
            other -> !other.getMetadata().getName().equals(name) && !of(other).isEmpty())
        .collect(Collectors.toMap(other -> other.getMetadata().getName(), Selectors::of));
  }

  /** Whether the pool selects what every pod of another pool's picker carries. */
  boolean selectsAnotherPicker(InferencePool pool) {
    String picker = of(pool).get(Labels.INSTANCE);
    return picker != null
        && Labels.all(picker).entrySet().containsAll(of(pool).entrySet())
        && pools
            .list(
                pool.getMetadata().getNamespace(),
                other ->
                    !other.getMetadata().getName().equals(pool.getMetadata().getName())
                        && Names.child(other.getMetadata().getName()).equals(picker))
            .findAny()
            .isPresent();
  }

  void seen(InferencePool pool) {
    if (!of(pool).equals(last.put(ResourceID.fromResource(pool), of(pool)))) {
      wakeOthers(pool);
    }
  }

  void gone(InferencePool pool) {
    if (last.remove(ResourceID.fromResource(pool)) != null) {
      wakeOthers(pool);
    }
  }

  private void wakeOthers(InferencePool pool) {
    String namespace = pool.getMetadata().getNamespace();
    String picker = Names.child(pool.getMetadata().getName());
    Stream.concat(
            pickers.list(namespace, Selectors::givesLabels).map(PoolNames::of),
            pools
                .list(namespace, other -> picker.equals(of(other).get(Labels.INSTANCE)))
                .map(other -> other.getMetadata().getName()))
        .filter(name -> name != null && !name.equals(pool.getMetadata().getName()))
        .forEach(name -> getEventHandler().handleEvent(new Event(new ResourceID(name, namespace))));
  }

  /** That of a pool; empty where it selects nothing. */
  public static Map<String, String> of(InferencePool pool) {
    return pool.getSpec() == null || pool.getSpec().selector() == null
        ? Map.of()
        : pool.getSpec().selector().matchLabels();
  }

  @Override
  public Set<InferencePool> getSecondaryResources(InferencePool pool) {
    return Set.of();
  }
}
