package io.fairlead.core;

/**
 * The effects that are of no single request. Called from within the event that causes them, on the
 * pool's loop; must not call back into the core.
 */
public interface PoolListener {

  /** Nobody is asked, nothing is told. */
  PoolListener NONE =
      new PoolListener() {
        @Override
        public boolean probe(Probe probe) {
          return false;
        }

        @Override
        public void healthChanged(HealthChange change) {}
      };

  /**
   * Ask the endpoint, and tell with {@link PoolCore#probed} or {@link PoolCore#probeFailed} what
   * came of it, later than from within this call. Nothing told in time counts as a failure.
   *
   * @return whether it is being asked; where it is not, requests serve as probes
   */
  boolean probe(Probe probe);

  /** An endpoint is used otherwise from now on. */
  void healthChanged(HealthChange change);
}
