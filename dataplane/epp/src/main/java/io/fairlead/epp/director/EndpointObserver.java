package io.fairlead.epp.director;

import io.fairlead.core.Failure;
import io.fairlead.core.HealthChange;
import org.jspecify.annotations.Nullable;

/** Told of endpoints' health, on the pool's loop: must be quick and must not block. */
public interface EndpointObserver {

  /** An endpoint is used otherwise from now on. */
  void healthChanged(HealthChange change);

  /** A probe was answered, or failed if there is a failure. */
  void probed(@Nullable Failure failure);
}
