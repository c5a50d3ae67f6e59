package io.fairlead.operator.observe;

import io.fairlead.crds.PoolReference;
import io.fairlead.crds.compile.PoolReferences;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.crds.v1alpha2.OldInferencePool;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which pool an object names, in whichever group: of two pools of one name only that of v1 is
 * served. An object whose reference is to something else belongs to no pool, also where a pool has
 * the name in it.
 */
public final class PoolNames {
  private PoolNames() {}

  /** The name of the model's pool, which may not be there; null when it names none. */
  public static @Nullable String of(InferenceModel model) {
    return model.getSpec() != null
            && PoolReferences.resolve(model.getSpec().poolRef()) instanceof PoolReferences.Pool pool
        ? pool.name()
        : null;
  }

  /** The name of the picker's pool, which may not be there; null when it names none. */
  public static @Nullable String of(EndpointPicker picker) {
    PoolReference ref = reference(picker);
    return ref == null || problem(picker).isPresent() ? null : ref.name();
  }

  /** Why the picker's reference cannot be to a pool, by field, and the next step. */
  public static Optional<String> problem(EndpointPicker picker) {
    PoolReference ref = reference(picker);
    if (ref == null || ref.name() == null || ref.name().isEmpty()) {
      return Optional.of("spec.poolRef.name is missing; name an InferencePool");
    }
    if (ref.kind() != null && !ref.kind().equals("InferencePool")) {
      return Optional.of(
          "spec.poolRef.kind is \"%s\"; only an InferencePool can have a picker"
              .formatted(ref.kind()));
    }
    return ref.group() == null
            || ref.group().equals(InferencePool.GROUP)
            || ref.group().equals(OldInferencePool.GROUP)
        ? Optional.empty()
        : Optional.of(
            "spec.poolRef.group is \"%s\"; set it to %s"
                .formatted(ref.group(), InferencePool.GROUP));
  }

  private static @Nullable PoolReference reference(EndpointPicker picker) {
    return picker.getSpec() == null ? null : picker.getSpec().poolRef();
  }
}
