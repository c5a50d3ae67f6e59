package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1alpha2.InferenceModel;

/** Told of objects that name no pool that is there, on a thread that may block. */
public interface Orphaned {

  /** It names no pool, or one that is not there. */
  void model(InferenceModel model);

  /** It names no pool, or one that is not there. */
  void picker(EndpointPicker picker);

  /** One of upstream's names no pool, or one that is not there. */
  void upstream(GenericKubernetesResource object);
}
