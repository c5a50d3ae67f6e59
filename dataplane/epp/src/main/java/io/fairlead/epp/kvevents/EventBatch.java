package io.fairlead.epp.kvevents;

import io.fairlead.core.prefix.CacheEvent;
import java.util.List;

/**
 * One message of an engine: what has happened since the one before.
 *
 * @param timestamp when it was made, in seconds by the engine's clock
 * @param events in order, those that count
 * @param ignored events that tell of no block in the engine's own memory, or are of an unknown kind
 */
record EventBatch(double timestamp, List<CacheEvent> events, int ignored) {

  EventBatch {
    events = List.copyOf(events);
  }

  /** Bytes of the heap that it takes, about. */
  long bytes() {
    long bytes = 64;
    for (CacheEvent event : events) {
      bytes +=
          switch (event) {
            case CacheEvent.Stored stored ->
                (long) Integer.BYTES * stored.tokens().length
                    + (long) Long.BYTES * stored.blocks().length;
            case CacheEvent.Removed removed -> (long) Long.BYTES * removed.blocks().length;
            case CacheEvent.Cleared _ -> 0;
          };
      bytes += 64;
    }
    return bytes;
  }
}
