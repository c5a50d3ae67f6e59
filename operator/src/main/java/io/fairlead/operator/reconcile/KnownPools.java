package io.fairlead.operator.reconcile;

import io.fairlead.crds.v1.InferencePool;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Which pool had a name when it was last looked at. One that is deleted and made anew at once is
 * seen as the new one alone: nothing else tells that the one before is gone.
 *
 * <p>Safe to use from any thread.
 */
final class KnownPools {
  private final Map<ResourceID, String> uids = new HashMap<>();

  /**
   * What a look at a pool has found.
   *
   * @param isNew whether it was not looked at before
   * @param another the UID of another that had its name before, and is gone
   */
  record Seen(boolean isNew, Optional<String> another) {}

  /** The pool is looked at. */
  synchronized Seen seen(InferencePool pool) {
    String uid = pool.getMetadata().getUid();
    String before = uids.put(ResourceID.fromResource(pool), uid);
    return new Seen(
        !uid.equals(before), Optional.ofNullable(before).filter(other -> !other.equals(uid)));
  }

  /** The pool is gone; another may have its name already. */
  synchronized void gone(InferencePool pool) {
    uids.remove(ResourceID.fromResource(pool), pool.getMetadata().getUid());
  }
}
