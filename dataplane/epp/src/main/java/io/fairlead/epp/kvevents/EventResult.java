package io.fairlead.epp.kvevents;

import java.util.Locale;

/** What became of a message of KV events, or of an event in it. */
public enum EventResult {
  /** A message was taken in. */
  APPLIED,
  /** An event of a kind, a medium or a group of layers that does not count. */
  IGNORED,
  /** A message came after a later one, or twice. */
  OUT_OF_ORDER,
  /** Messages are missing before this one. */
  GAP,
  /** A message that was missed came with a replay. */
  REPLAYED,
  /** What was missed could not be had: what the engine holds is not known any more. */
  FORGOTTEN,
  /** The engine began anew. */
  RESTARTED,
  /** A message is no batch of events. */
  MALFORMED,
  /** A message's topic names a model that the pool does not serve, or is not one that counts. */
  FOREIGN_MODEL,
  /** Blocks are of a size that does not fit to {@code blockSizeTokens}. */
  BLOCK_SIZE,
  /** There is no memory for what the engine holds. */
  NO_ROOM,
  /** Not a message: reading failed unexpectedly, and began anew. */
  FAILED;

  /** As metrics have it. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
