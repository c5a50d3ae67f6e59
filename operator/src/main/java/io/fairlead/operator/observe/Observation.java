package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import io.fairlead.crds.compile.UpstreamObjects;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.v1.EndpointPickerRef;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import java.time.ZonedDateTime;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * All that concerns one pool, at one moment.
 *
 * @param pool the pool
 * @param pickers EndpointPickers that name it and are not being deleted
 * @param leaving those that are, and that a finalizer keeps
 * @param models InferenceModels whose reference holds its name
 * @param upstream InferenceObjectives and InferenceModelRewrites that name it
 * @param superseded such that don't count, since the cluster has their kind in a newer group, too
 * @param unread what of these lists is not known
 * @param service the Service that its endpointPickerRef names; null when there is none
 * @param children objects that this pool controls, or takes over from one of its name in the older
 *     group
 * @param pods the picker's pods
 * @param leases the pods' Leases
 * @param selectors of all other pools of the namespace, by their names; none where no
 *     EndpointPicker gives its pods labels by which one of them could select these
 * @param selectsAnotherPicker whether the pool selects what every pod of another pool's picker
 *     carries
 */
public record Observation(
    InferencePool pool,
    List<EndpointPicker> pickers,
    List<EndpointPicker> leaving,
    List<InferenceModel> models,
    UpstreamObjects upstream,
    List<GenericKubernetesResource> superseded,
    Unread unread,
    @Nullable Service service,
    List<HasMetadata> children,
    List<Pod> pods,
    List<Lease> leases,
    Map<String, Map<String, String>> selectors,
    boolean selectsAnotherPicker) {

  public Observation {
    pickers = List.copyOf(pickers);
    leaving = List.copyOf(leaving);
    models = List.copyOf(models);
    superseded = List.copyOf(superseded);
    children = List.copyOf(children);
    pods = List.copyOf(pods);
    leases = List.copyOf(leases);
    selectors = Collections.unmodifiableMap(new TreeMap<>(selectors));
  }

  /** The same, of which it is not known which objects there are of this kind. */
  public Observation withUnread(String kind) {
    return new Observation(
        pool,
        pickers,
        leaving,
        models,
        upstream,
        superseded,
        unread.with(kind),
        service,
        children,
        pods,
        leases,
        selectors,
        selectsAnotherPicker);
  }

  /**
   * Objects that we made for this very pool. Somebody may have copied them, with the pool as owner.
   */
  public List<HasMetadata> own() {
    return children.stream()
        .filter(child -> Ownership.by(pool, child) && Ownership.isApplied(child))
        .toList();
  }

  /** The child of this kind and name, when the pool controls it. */
  public <T extends HasMetadata> Optional<T> child(Class<T> kind, String name) {
    return children.stream()
        .filter(kind::isInstance)
        .map(kind::cast)
        .filter(child -> child.getMetadata().getName().equals(name))
        .findFirst();
  }

  /** The pool's reference; null when it has none. */
  public @Nullable EndpointPickerRef ref() {
    return pool.getSpec() == null ? null : pool.getSpec().endpointPickerRef();
  }

  /** When the pod last renewed its account, by its own clock; empty where it doesn't say. */
  public Optional<ZonedDateTime> renewed(Pod pod) {
    return leases(pod)
        .map(Lease::getSpec)
        .flatMap(Stream::ofNullable)
        .map(LeaseSpec::getRenewTime)
        .flatMap(Stream::ofNullable)
        .findFirst();
  }

  private Stream<Lease> leases(Pod pod) {
    return leases.stream()
        .filter(
            lease ->
                lease.getMetadata().getOwnerReferences().stream()
                    .anyMatch(owner -> owner.getUid().equals(pod.getMetadata().getUid())));
  }

  /** The pod's own account; null when it has none, or when only a namesake before it had. */
  public PickerReport.@Nullable Reading report(Pod pod) {
    return leases(pod)
        .map(lease -> lease.getMetadata().getAnnotations())
        .filter(annotations -> annotations != null)
        .map(annotations -> annotations.get(PickerReport.ANNOTATION))
        .filter(text -> text != null)
        .map(PickerReport::read)
        .findFirst()
        .orElse(null);
  }
}
