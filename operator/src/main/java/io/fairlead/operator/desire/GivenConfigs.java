package io.fairlead.operator.desire;

import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.config.PoolConfig;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The configs that pickers were given lately. A picker that is slow, or cut off, runs one that no
 * ConfigMap holds any more, or the scheduling of one, and what it runs is known all the same.
 *
 * <p>Safe to use from any thread, for one pool from one at a time.
 */
public final class GivenConfigs {
  /** Pickers say what they run a moment after they were given it, and edits may come faster. */
  private static final int LATEST = 16;

  /** By UID of the pool, then by hash of the config: the one given last at the end. */
  private final Map<String, Map<ConfigHash, PoolConfig>> pools = new ConcurrentHashMap<>();

  /** Empty where nothing is known of a config of this hash. */
  Optional<PoolConfig> of(String pool, ConfigHash hash) {
    return Optional.ofNullable(pools.getOrDefault(pool, Map.of()).get(hash));
  }

  /** All that are known, the one given last first. */
  List<PoolConfig> latestFirst(String pool) {
    return List.copyOf(pools.getOrDefault(pool, Map.of()).values()).reversed();
  }

  /**
   * What pickers are given from now on, and may run.
   *
   * @param pool its UID
   * @param given by their hashes
   * @param reported hashes that pickers name: what they run is kept
   */
  void give(String pool, Map<ConfigHash, PoolConfig> given, Set<ConfigHash> reported) {
    Map<ConfigHash, PoolConfig> kept = new LinkedHashMap<>(pools.getOrDefault(pool, Map.of()));
    given.forEach(
        (hash, config) -> {
          kept.remove(hash);
          kept.put(hash, config);
        });
    if (given.keySet().containsAll(reported)) {
      kept.keySet().retainAll(given.keySet());
    }
    int over = kept.size() - LATEST;
    for (Iterator<ConfigHash> oldest = kept.keySet().iterator(); over > 0 && oldest.hasNext(); ) {
      if (!reported.contains(oldest.next())) {
        oldest.remove();
        over--;
      }
    }
    pools.put(pool, kept);
  }

  /** The pool is served no longer. */
  public void forget(String pool) {
    pools.remove(pool);
  }
}
