package io.fairlead.core;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What is known of adapters across a pool. */
final class PoolAdapters {

  /** Names come from servers: beyond so many they are not to be trusted, nor kept. */
  private static final int MOST = 10_000;

  private final Set<String> names = new HashSet<>();
  private long changes;

  /** A server has named these. */
  void add(List<String> adapters) {
    for (int i = 0; i < adapters.size() && names.size() < MOST; i++) {
      changes += names.add(adapters.get(i)) ? 1 : 0;
    }
  }

  /**
   * Whether any server of the pool has ever told of it. A target that none named may be another
   * name of a base model, which needs no slot: nobody may be held back for its want of one.
   */
  boolean knows(String target) {
    return names.contains(target);
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
