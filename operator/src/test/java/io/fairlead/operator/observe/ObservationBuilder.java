package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fairlead.crds.compile.UpstreamObjects;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import java.util.List;
import java.util.Map;

/** An {@link Observation} of a pool and, unless a test says so, nothing else. */
public final class ObservationBuilder {
  private final InferencePool pool;
  private List<EndpointPicker> pickers = List.of();
  private List<InferenceModel> models = List.of();
  private UpstreamObjects upstream = UpstreamObjects.NONE;
  private List<GenericKubernetesResource> superseded = List.of();
  private Unread unread = Unread.NOTHING;
  private List<HasMetadata> children = List.of();
  private List<Pod> pods = List.of();
  private List<Lease> leases = List.of();
  private boolean selectsAnotherPicker;

  private ObservationBuilder(InferencePool pool) {
    this.pool = pool;
  }

  public static ObservationBuilder of(InferencePool pool) {
    return new ObservationBuilder(pool);
  }

  public ObservationBuilder pickers(List<EndpointPicker> seen) {
    pickers = seen;
    return this;
  }

  public ObservationBuilder models(List<InferenceModel> seen) {
    models = seen;
    return this;
  }

  public ObservationBuilder upstream(UpstreamObjects seen) {
    upstream = seen;
    return this;
  }

  public ObservationBuilder superseded(List<GenericKubernetesResource> seen) {
    superseded = seen;
    return this;
  }

  public ObservationBuilder unread(Unread seen) {
    unread = seen;
    return this;
  }

  public ObservationBuilder children(List<? extends HasMetadata> seen) {
    children = List.copyOf(seen);
    return this;
  }

  public ObservationBuilder pods(List<Pod> seen) {
    pods = seen;
    return this;
  }

  public ObservationBuilder leases(List<Lease> seen) {
    leases = seen;
    return this;
  }

  public ObservationBuilder selectsAnotherPicker(boolean selects) {
    selectsAnotherPicker = selects;
    return this;
  }

  public Observation build() {
    return new Observation(
        pool,
        pickers,
        List.of(),
        models,
        upstream,
        superseded,
        unread,
        null,
        children,
        pods,
        leases,
        Map.of(),
        selectsAnotherPicker);
  }
}
