package io.fairlead.core;

/** Told of the end of a request that its frontend has left. */
public interface LeftListener {

  /** Nobody who wants to know. */
  LeftListener NONE = request -> {};

  /**
   * The request is over as far as the core can know: nobody saw its end since {@link
   * PoolCore#left}. Called on the pool's loop; must not call back into the core.
   */
  void presumedOver(long request);
}
