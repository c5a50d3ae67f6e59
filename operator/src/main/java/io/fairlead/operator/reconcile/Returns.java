package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Whether what is deleted of a pool that is not served comes back each time: somebody makes it,
 * such as another operator, which serves the pool. To go on deleting it would be a fight that
 * nobody wins, and the pool would have no picker for it.
 *
 * <p>Safe to use from any thread.
 */
final class Returns {
  /** Once may be a write that was under way when the pool was given up. */
  private static final int OFTEN = 2;

  /** By UID of the pool. */
  private final Map<String, Map<String, Last>> pools = new HashMap<>();

  /**
   * An object of one kind and name.
   *
   * @param uid of the one that was seen last
   * @param times how often there was another before
   */
  private record Last(String uid, int times) {}

  /**
   * To be told of what is there before it is deleted.
   *
   * @param pool its UID
   * @return true from then on when something of it came back too often
   */
  synchronized boolean tooOften(String pool, List<HasMetadata> there) {
    Map<String, Last> objects = pools.computeIfAbsent(pool, any -> new HashMap<>());
    for (HasMetadata object : there) {
      String uid = object.getMetadata().getUid();
      objects.merge(
          object.getKind() + "/" + object.getMetadata().getName(),
          new Last(uid, 0),
          (last, now) -> last.uid().equals(uid) ? last : new Last(uid, last.times() + 1));
    }
    return objects.values().stream().anyMatch(object -> object.times() >= OFTEN);
  }

  /** The pool is gone, or served. */
  synchronized void forget(String pool) {
    pools.remove(pool);
  }
}
