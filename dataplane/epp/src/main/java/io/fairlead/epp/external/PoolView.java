package io.fairlead.epp.external;

import io.fairlead.core.RequestFacts;
import io.fairlead.core.external.EndpointLoad;
import io.fairlead.core.external.RequestBrief;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What of a pool's core concerns an external scheduler. On the core's own loop only. */
public interface PoolView {

  /** What the scheduler is to know of a request that has not arrived yet; null without a config. */
  @Nullable RequestBrief brief(long now, RequestFacts facts);

  /**
   * Tells of every endpoint that has changed.
   *
   * @param since what this returned last; 0 for all endpoints
   * @return to be passed the next time
   */
  long loads(long since, Consumer<EndpointLoad> to);

  /** One endpoint that may get requests; null if none has this name. */
  @Nullable EndpointLoad load(String name);
}
