package io.fairlead.stub.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;

/**
 * The slots for LoRA adapters. An adapter takes one when the first of its requests is admitted, and
 * keeps it until another needs it; the one idle longest goes first, one with running requests
 * never.
 */
final class AdapterSlots {

  private final int slots;
  private final Adapter base = new Adapter("");
  private final Map<String, Adapter> known = new HashMap<>();
  private final List<Adapter> resident = new ArrayList<>();
  private long idleClock;
  private long openings;
  private long loads;
  private long changes;
  private int loadsToDo;

  AdapterSlots(int slots) {
    this.slots = slots;
    base.resident = true;
  }

  /** The adapter of a request that begins to wait. */
  Adapter awaited(String name) {
    Adapter adapter = name.isEmpty() ? base : known.computeIfAbsent(name, Adapter::new);
    adapter.waiting++;
    return adapter;
  }

  /** A request that was preempted waits again. */
  void awaitedAgain(Adapter adapter) {
    ended(adapter);
    adapter.waiting++;
  }

  /** A request was cancelled before it was admitted. */
  void givenUp(Adapter adapter) {
    adapter.waiting--;
    forgetIfUnused(adapter);
  }

  /** Whether a request of the adapter can be admitted now. */
  boolean admits(Adapter adapter) {
    return adapter.resident || resident.size() < slots || idlest() >= 0;
  }

  /** A request is admitted; {@link #admits} holds. */
  void admitted(Adapter adapter) {
    adapter.waiting--;
    if (adapter.running++ == 0) {
      changes++;
    }
    if (!adapter.resident) {
      load(adapter);
    }
  }

  /** An admitted request is over. */
  void ended(Adapter adapter) {
    if (--adapter.running == 0) {
      adapter.idleSince = ++idleClock;
      openings++;
      changes++;
    }
  }

  /**
   * Loads an adapter that nobody asked for yet, unless all slots are in use by running requests.
   */
  boolean preload(String name) {
    Adapter adapter = known.computeIfAbsent(name, Adapter::new);
    if (adapter.resident) {
      return true;
    }
    if (!admits(adapter)) {
      forgetIfUnused(adapter);
      return false;
    }
    load(adapter);
    adapter.idleSince = ++idleClock;
    openings++;
    return true;
  }

  /** Frees the adapter's slot unless a request of it runs; whether it holds none afterwards. */
  boolean unload(String name) {
    Adapter adapter = known.get(name);
    if (adapter == null) {
      return true;
    }
    if (adapter.running > 0) {
      return false;
    }
    if (adapter.resident) {
      evict(resident.indexOf(adapter));
      openings++;
    }
    return true;
  }

  /** Grows whenever a request that was not admitted may be now. */
  long openings() {
    return openings;
  }

  /** Grows whenever another set of adapters is running. */
  long changes() {
    return changes;
  }

  /** Adapters to be loaded by the next step. */
  int takeLoads() {
    int taken = loadsToDo;
    loadsToDo = 0;
    return taken;
  }

  long loads() {
    return loads;
  }

  /** Names of the adapters that hold a slot, longest held first. */
  List<String> resident() {
    return resident.stream().map(adapter -> adapter.name).toList();
  }

  /** Names of the adapters for which {@code requests} counts any, in order. */
  List<String> names(ToIntFunction<Adapter> requests) {
    return known.values().stream()
        .filter(adapter -> requests.applyAsInt(adapter) > 0)
        .map(adapter -> adapter.name)
        .sorted()
        .toList();
  }

  /** As new, apart from the count of loads. */
  void clear() {
    base.running = 0;
    base.waiting = 0;
    known.clear();
    resident.clear();
    loadsToDo = 0;
    openings++;
    changes++;
  }

  private void load(Adapter adapter) {
    if (resident.size() == slots) {
      evict(idlest());
    }
    resident.add(adapter);
    adapter.resident = true;
    loads++;
    loadsToDo++;
  }

  private void evict(int slot) {
    Adapter adapter = resident.remove(slot);
    adapter.resident = false;
    forgetIfUnused(adapter);
  }

  private void forgetIfUnused(Adapter adapter) {
    if (!adapter.resident && adapter.running == 0 && adapter.waiting == 0) {
      known.remove(adapter.name);
    }
  }

  /** The slot of the adapter that has been idle longest, -1 if none is. */
  private int idlest() {
    int best = -1;
    for (int i = 0; i < resident.size(); i++) {
      Adapter adapter = resident.get(i);
      if (adapter.running == 0 && (best < 0 || adapter.idleSince < resident.get(best).idleSince)) {
        best = i;
      }
    }
    return best;
  }
}
