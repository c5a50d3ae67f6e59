package io.fairlead.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fairlead.crds.v1.InferencePool;

/**
 * Which child it is.
 *
 * @param pool the pool's UID
 */
record ChildKey(String pool, String kind, String name) {
  static ChildKey of(InferencePool pool, HasMetadata child) {
    return of(pool.getMetadata().getUid(), child);
  }

  static ChildKey of(String pool, HasMetadata child) {
    return new ChildKey(pool, child.getKind(), child.getMetadata().getName());
  }
}
