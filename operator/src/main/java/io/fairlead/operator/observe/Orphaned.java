package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1alpha2.InferenceModel;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Told of objects that name no pool that is there, on a thread that may block. Each method gives
 * when it is to be told again though nothing changes, and empty where that need not be.
 */
public interface Orphaned {

  /** It names no pool, or one that is not there. */
  Optional<Duration> model(InferenceModel model);

  /** It names no pool, or one that is not there. */
  Optional<Duration> picker(EndpointPicker picker);

  /** One of upstream's names no pool, or one that is not there. */
  Optional<Duration> upstream(GenericKubernetesResource object);

  /**
   * It is not known which pools there are.
   *
   * @param still whether that is so still: to find out why may take long, and another may have told
   *     of it since
   */
  Optional<Duration> poolsUnknown(InferenceModel model, BooleanSupplier still);

  /** The same of a picker. */
  Optional<Duration> poolsUnknown(EndpointPicker picker, BooleanSupplier still);
}
