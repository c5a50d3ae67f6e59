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
   * Finds the endpoints of a pool whose config is about to come into force. A later call takes the
   * place of one that is not answered yet, or whose answer was not {@link #taken}: who could not
   * bring a config into force asks again for the pool that is.
   *
   * @param found called once: at once with null when they are the same pods and ports as those in
   *     force, else with the pool's endpoints as soon as they are known. Until then the sink gets
   *     sets of the pool before, then none until the answer is taken or followed by another call
   */
  void follow(PoolConfig pool, Consumer<@Nullable EndpointSet> found);

  /** What was found is in force: from now on the sink gets sets of that pool. */
  void taken();

  @Override
  void close();
}
