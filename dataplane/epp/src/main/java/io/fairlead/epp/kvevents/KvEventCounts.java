package io.fairlead.epp.kvevents;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** What became of KV events since the process began. Any thread. */
public final class KvEventCounts {

  private final Map<EventResult, LongAdder> counts = new EnumMap<>(EventResult.class);

  /** Nothing so far. */
  public KvEventCounts() {
    for (EventResult result : EventResult.values()) {
      counts.put(result, new LongAdder());
    }
  }

  void count(EventResult result) {
    count(result, 1);
  }

  void count(EventResult result, int times) {
    Objects.requireNonNull(counts.get(result)).add(times);
  }

  /** So many had this end. */
  public long of(EventResult result) {
    return Objects.requireNonNull(counts.get(result)).sum();
  }
}
