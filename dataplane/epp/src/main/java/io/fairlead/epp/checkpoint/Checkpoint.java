package io.fairlead.epp.checkpoint;

import io.fairlead.crds.config.PoolConfig;
import io.fairlead.epp.datalayer.EndpointSet;
import java.time.Instant;

/**
 * What a picker ran, and where it sent requests. Both are kept together, since new models must not
 * meet old endpoints.
 *
 * @param savedAt when one of them last changed
 * @param replicas pickers that shared the pool, this one counted, at least 1
 */
public record Checkpoint(Instant savedAt, PoolConfig config, EndpointSet endpoints, int replicas) {

  public Checkpoint {
    if (replicas < 1) {
      throw new IllegalArgumentException("replicas is " + replicas + ", expected at least 1");
    }
  }

  /** Whether a pool of this config has the endpoints that were kept. */
  boolean isOf(PoolConfig pool) {
    return pool.namespace().equals(config.namespace())
        && pool.selector().equals(config.selector())
        && pool.targetPorts().equals(config.targetPorts());
  }
}
