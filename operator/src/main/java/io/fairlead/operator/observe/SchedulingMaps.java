package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.DnsSubdomain;
import io.fairlead.crds.compile.SchedulingText;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.SchedulingFromSpec;
import io.fairlead.crds.fairlead.v1alpha1.SchedulingFromSpec.ConfigMapKeyRef;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.watch.KindListener;
import io.fairlead.crds.watch.WatchedKind;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The ConfigMaps that {@code spec.schedulingFrom} of EndpointPickers names. Each is watched by its
 * name for as long as a pool needs it: all ConfigMaps of a cluster are far more than that.
 */
final class SchedulingMaps extends AbstractEventSource<GenericKubernetesResource, InferencePool> {
  private static final SchedulingText NOT_ASKED =
      SchedulingText.none("is not set; name a ConfigMap and a key");

  private final KubernetesClient client;
  private final Map<ResourceID, Watch> watches = new HashMap<>();

  private record Watch(WatchedKind map, Set<ResourceID> pools) {}

  /** Watches nothing yet. */
  SchedulingMaps(EventSourceContext<InferencePool> context) {
    super(GenericKubernetesResource.class, "scheduling");
    client = context.getClient();
  }

  /**
   * What the picker's reference leads to.
   *
   * @param pool whom a change of it concerns, from now on; it needs no other
   * @param picker null when the pool has none
   * @return empty while that is not known; the pool is woken when it is
   */
  Optional<SchedulingText> of(ResourceID pool, @Nullable EndpointPicker picker) {
    ConfigMapKeyRef ref = reference(picker);
    if (ref == null || ref.name() == null || ref.key() == null) {
      release(pool, null);
      return Optional.of(NOT_ASKED);
    }
    if (!DnsSubdomain.isOne(ref.name())) {
      release(pool, null);
      return Optional.of(
          SchedulingText.none(
              "names a ConfigMap that cannot be; a name has a-z, 0-9, - and . and begins and ends with a letter or digit"));
    }
    ResourceID id = new ResourceID(ref.name(), pool.getNamespace().orElse(null));
    release(pool, id);
    WatchedKind map = watch(pool, id);
    if (!map.known()) {
      return Optional.ofNullable(map.failure())
          .map(
              why ->
                  SchedulingText.none(
                      "names ConfigMap %s, which can't be read: %s; it is tried again"
                          .formatted(ref.name(), why)));
    }
    if (map.forbidden()) {
      return Optional.of(
          SchedulingText.none(
              "names ConfigMap %s, which the operator may not read; grant get, list and watch of configmaps to its ServiceAccount"
                  .formatted(ref.name())));
    }
    return Optional.of(
        map.objects().stream()
            .findFirst()
            .map(object -> text(object, ref))
            .orElseGet(
                () ->
                    SchedulingText.none(
                        "names ConfigMap %1$s, which is not in namespace %2$s; create it: kubectl create configmap %1$s --from-file=%3$s --namespace %2$s"
                            .formatted(ref.name(), pool.getNamespace().orElse(""), ref.key()))));
  }

  private static @Nullable ConfigMapKeyRef reference(@Nullable EndpointPicker picker) {
    SchedulingFromSpec from =
        picker == null || picker.getSpec() == null ? null : picker.getSpec().schedulingFrom();
    return from == null ? null : from.configMapKeyRef();
  }

  private static SchedulingText text(GenericKubernetesResource map, ConfigMapKeyRef ref) {
    if (map.get("data", ref.key()) instanceof String text) {
      return SchedulingText.of(text);
    }
    Set<String> keys = new TreeSet<>();
    if (map.get("data") instanceof Map<?, ?> data) {
      data.keySet().forEach(key -> keys.add(String.valueOf(key)));
    }
    return SchedulingText.none(
        "names key %s of ConfigMap %s, whose data has %s; name one of its keys, or add this one"
            .formatted(ref.key(), ref.name(), keys.isEmpty() ? "no key" : String.join(", ", keys)));
  }

  private WatchedKind watch(ResourceID pool, ResourceID id) {
    WatchedKind made;
    synchronized (watches) {
      Watch there = watches.get(id);
      if (there != null) {
        there.pools().add(pool);
        return there.map();
      }
      made =
          new WatchedKind(
              client, "", "v1", "ConfigMap", id.getNamespace().orElse(null), id.getName());
      watches.put(id, new Watch(made, new HashSet<>(Set.of(pool))));
    }
    made.start(
        new KindListener() {
          @Override
          public void changed(GenericKubernetesResource object) {
            wake(id);
          }

          @Override
          public void turned() {
            wake(id);
          }
        });
    return made;
  }

  private void wake(ResourceID map) {
    List<ResourceID> pools;
    synchronized (watches) {
      Watch watch = watches.get(map);
      pools = watch == null ? List.of() : List.copyOf(watch.pools());
    }
    pools.forEach(pool -> getEventHandler().handleEvent(new Event(pool)));
  }

  /** The pool needs no ConfigMap but this one. */
  private void release(ResourceID pool, @Nullable ResourceID kept) {
    List<WatchedKind> ended = new ArrayList<>();
    synchronized (watches) {
      watches
          .entrySet()
          .removeIf(
              entry -> {
                Watch watch = entry.getValue();
                if (!entry.getKey().equals(kept)
                    && watch.pools().remove(pool)
                    && watch.pools().isEmpty()) {
                  ended.add(watch.map());
                  return true;
                }
                return false;
              });
    }
    ended.forEach(WatchedKind::stop);
  }

  @Override
  public void stop() {
    List<WatchedKind> all;
    synchronized (watches) {
      all = watches.values().stream().map(Watch::map).toList();
      watches.clear();
    }
    all.forEach(WatchedKind::stop);
    super.stop();
  }

  @Override
  public Set<GenericKubernetesResource> getSecondaryResources(InferencePool pool) {
    return Set.of();
  }
}
