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
        public void probe(Probe probe) {}

        @Override
        public void healthChanged(HealthChange change) {}
      };

  /**
   * Ask the endpoint. One that can't ask answers with {@link PoolCore#probed} and a failure, or
   * never: then the core counts it as one once the time is up.
   */
  void probe(Probe probe);

  /** An endpoint is used otherwise from now on. */
  void healthChanged(HealthChange change);
}
