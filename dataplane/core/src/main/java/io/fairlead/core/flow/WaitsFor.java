package io.fairlead.core.flow;

/** What a request waits for, as was seen when it was tried last. */
public enum WaitsFor {
  /** Room, as all do until they are tried. */
  ROOM,
  /** A slot for its adapter; others of its flow may want no slot, or another. */
  SLOT,
  /** A slot as well, and all of its flow want the same. */
  SLOT_AS_ITS_FLOW
}
