package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1alpha2.InferenceModel;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Told of objects that name no pool, or one that is not seen, on a thread that may block. Each
 * method gives when it is to be told again though nothing changes, and empty where that need not
 * be. It is handed whether that is so still: to find out why no pool is seen may take long, and who
 * looks at the pool may have told of the object since.
 */
public interface Orphaned {

  /** A model does. */
  Optional<Duration> model(InferenceModel model, BooleanSupplier still);

  /** A picker does. */
  Optional<Duration> picker(EndpointPicker picker, BooleanSupplier still);

  /** An object of upstream's does. */
  Optional<Duration> upstream(GenericKubernetesResource object, BooleanSupplier still);
}
