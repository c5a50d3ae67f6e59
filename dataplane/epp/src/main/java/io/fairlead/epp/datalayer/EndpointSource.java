package io.fairlead.epp.datalayer;

import io.fairlead.crds.config.PoolConfig;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A place that endpoints come from. */
public interface EndpointSource extends AutoCloseable {

  /**
   * Begins to watch and returns at once. A source that can't be reached yet keeps trying.
   *
   * @param sink gets every set seen, one call at a time, on any thread
   */
  void start(Consumer<EndpointSet> sink);

  /**
   * Finds the endpoints of a pool whose config is about to come into force; a later call takes the
   * place of one that is not answered yet.
   *
   * @param found called once: at once with null when they are the same pods and ports as before,
   *     else with the pool's endpoints as soon as they are known. From then on the sink gets sets
   *     of this pool, and until then of the one before.
   */
  void follow(PoolConfig pool, Consumer<@Nullable EndpointSet> found);

  @Override
  void close();
}
