package io.fairlead.epp.datalayer;

import io.fairlead.crds.config.PoolConfig;
import java.util.function.Consumer;

/** A place that endpoints come from. */
public interface EndpointSource extends AutoCloseable {

  /**
   * Begins to watch and returns at once. A source that can't be reached yet keeps trying.
   *
   * @param sink gets every set seen, one call at a time, on any thread
   */
  void start(Consumer<EndpointSet> sink);

  /** The pool whose endpoints are wanted; called again when its config changes. */
  void follow(PoolConfig pool);

  @Override
  void close();
}
