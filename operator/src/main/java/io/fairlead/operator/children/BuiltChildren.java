package io.fairlead.operator.children;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The children of each pool as they were built last. Whether the same is asked for is seen sooner
 * than a Deployment is built, and what is the same object need not be compared field by field.
 *
 * <p>Safe to use from any thread.
 */
public final class BuiltChildren {
  /** By UID of the pool. */
  private final Map<String, Built> last = new ConcurrentHashMap<>();

  private record Built(PickerDesign design, List<HasMetadata> children) {}

  /** As {@link Children#of}. */
  public List<HasMetadata> of(PickerDesign design) {
    PickerDesign lasting = design.withoutDocument();
    Built built = last.get(design.poolUid());
    if (built == null || !built.design().equals(lasting)) {
      built = new Built(lasting, Children.withoutDocument(lasting));
      last.put(design.poolUid(), built);
    }
    return Children.withDocument(built.children(), design);
  }

  /**
   * The pool is gone, or served no more.
   *
   * @param uid the pool's
   */
  public void forget(String uid) {
    last.remove(uid);
  }
}
