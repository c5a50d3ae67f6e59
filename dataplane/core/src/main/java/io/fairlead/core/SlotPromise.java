package io.fairlead.core;

/**
 * A slot for an adapter that an endpoint has promised for the sake of one request that waits.
 *
 * @param at whose slot it is
 * @param promise of its slots
 */
record SlotPromise(EndpointState at, AdapterSlots.Promise promise) {

  /** Whether nobody has had the slot yet, and the endpoint has not left. */
  boolean stands() {
    return at.adapters().isPromised(promise);
  }

  /** Whether the slot is there, and is kept for the adapter. */
  boolean isKept() {
    return at.adapters().isKept(promise);
  }

  /** The request does not count on it any more. */
  void takeBack() {
    at.takeBackSlot(promise);
  }
}
