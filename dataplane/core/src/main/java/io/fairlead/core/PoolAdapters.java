package io.fairlead.core;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * Adapters and base models that servers of a pool have told of in the last minutes. One that nobody
 * shows any more may be gone for good where adapters come and go.
 */
final class PoolAdapters {

  /** Names come from servers: of more, those that were shown for longest ago make room. */
  private static final int MOST = 10_000;

  /** For {@link #shownAt}: none has told of it. */
  static final long NEVER = Long.MIN_VALUE;

  /** Nanoseconds for which one is known after it was shown last. */
  private static final long KNOWN_FOR = 600_000_000_000L;

  /** When each was shown last, the one that was for longest ago first. */
  private final SequencedMap<String, Long> names = new LinkedHashMap<>();

  private final SequencedMap<String, Long> baseModels = new LinkedHashMap<>();

  private long changes;

  /** A server has named these. */
  void add(long now, List<String> adapters) {
    for (int i = 0; i < adapters.size(); i++) {
      changes += names.putLast(adapters.get(i), now) == null ? 1 : 0;
    }
    changes += forget(now, names);
  }

  /** A server calls its base model so. */
  void addBaseModel(long now, String name) {
    baseModels.putLast(name, now);
    forget(now, baseModels);
  }

  private static int forget(long now, SequencedMap<String, Long> of) {
    int before = of.size();
    while (!of.isEmpty() && (of.size() > MOST || now - of.firstEntry().getValue() > KNOWN_FOR)) {
      of.pollFirstEntry();
    }
    return before - of.size();
  }

  /** Whether any server of the pool has told of this model, as an adapter or as its base model. */
  boolean isServed(String model) {
    return knows(model) || baseModels.containsKey(model);
  }

  /**
   * Whether any server of the pool has told of it. A target that none named may be another name of
   * a base model, which needs no slot: nobody may be held back for its want of one.
   */
  boolean knows(String target) {
    return names.containsKey(target);
  }

  /** When a server told of this model last, as an adapter or as its base model; or NEVER. */
  long shownAt(String model) {
    Long adapter = names.get(model);
    Long base = baseModels.get(model);
    if (adapter == null || base == null) {
      return adapter != null ? adapter : base != null ? base : NEVER;
    }
    return adapter - base > 0 ? adapter : base;
  }

  /** How many there are that servers have told of. */
  int count() {
    return names.size();
  }

  /** A slot of a server was taken, given up or promised, or is another adapter's. */
  void slotChanged() {
    changes++;
  }

  /**
   * How often anything has changed that decides who lacks a slot: while it stays the same, whoever
   * lacked one lacks it still.
   */
  long changes() {
    return changes;
  }
}
