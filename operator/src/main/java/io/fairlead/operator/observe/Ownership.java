package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.children.Labels;
import java.util.Map;
import java.util.Optional;

/** Who controls an object, as its controller owner reference tells. */
public final class Ownership {
  private Ownership() {}

  /** The pool that controls the object. */
  public static Optional<OwnerReference> pool(HasMetadata object) {
    return object.getMetadata().getOwnerReferences().stream()
        .filter(owner -> Boolean.TRUE.equals(owner.getController()))
        .filter(
            owner ->
                owner.getKind().equals("InferencePool")
                    && owner.getApiVersion().startsWith(InferencePool.GROUP + "/"))
        .findFirst();
  }

  /** Whether this very pool controls the object. */
  public static boolean by(InferencePool pool, HasMetadata object) {
    return pool(object)
        .filter(owner -> owner.getUid().equals(pool.getMetadata().getUid()))
        .isPresent();
  }

  /** Whether the object was made by us, for any pool. */
  public static boolean ours(HasMetadata object) {
    Map<String, String> labels = object.getMetadata().getLabels();
    return labels != null
        && Labels.MANAGER.equals(labels.get(Labels.MANAGED_BY))
        && pool(object).isPresent();
  }

  /**
   * Whether the object was made by us for a pool that was deleted and had this pool's name. The
   * garbage collector will remove it; until then its name is taken.
   */
  public static boolean byPredecessor(InferencePool pool, HasMetadata object) {
    return ours(object)
        && pool(object)
            .filter(owner -> owner.getName().equals(pool.getMetadata().getName()))
            .filter(owner -> !owner.getUid().equals(pool.getMetadata().getUid()))
            .isPresent();
  }
}
