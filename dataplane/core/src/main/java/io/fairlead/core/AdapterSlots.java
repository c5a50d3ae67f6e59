package io.fairlead.core;

import io.fairlead.plugin.Adapters;
import java.util.ArrayList;
import java.util.List;

/**
 * LoRA adapters of one endpoint, least recently used first. A server shows an adapter only while
 * its requests run, so what was placed is remembered, and what the server shows is added to it. An
 * adapter with requests in flight keeps its slot, as in the server: where all are taken so, those
 * that came last wait.
 */
final class AdapterSlots implements Adapters {

  private final ArrayList<Slot> resident = new ArrayList<>();

  /** How many are resident. As the next two, it is kept here for decisions, which ask everybody. */
  private int count;

  /** A bit for each resident name, by its hash: one whose bit is not set is not there. */
  private long names;

  /** Hash of {@link #baseModel}; another text with the same is looked at. */
  private int baseHash;

  private int slots;
  private String baseModel = "";
  private List<String> running = List.of();
  private List<String> waiting = List.of();
  private int reported;

  private static final class Slot {
    private final String adapter;
    private int inFlight;

    private Slot(String adapter) {
      this.adapter = adapter;
    }
  }

  void scraped(EndpointMetrics metrics) {
    if (metrics.maxAdapters() > 0) {
      slots = metrics.maxAdapters();
    }
    if (!metrics.baseModel().isEmpty()) {
      baseModel = metrics.baseModel();
      baseHash = baseModel.hashCode();
    }
    running = metrics.runningAdapters();
    waiting = metrics.waitingAdapters();
    reported = reportedNow();
    for (int i = 0; i < running.size(); i++) {
      if (indexOf(running.get(i)) < 0) {
        resident.add(new Slot(running.get(i)));
      }
    }
    trim();
  }

  /** What the server said is out of date; what was loaded and how many can be, is not. */
  void unknown() {
    running = List.of();
    waiting = List.of();
    reported = 0;
  }

  /** Another process is there, which has loaded nothing: requests of the former one are to end. */
  void unloaded() {
    unknown();
    resident.removeIf(slot -> slot.inFlight == 0);
    changed();
  }

  /** A request for this target was sent: its adapter is or will be loaded, the oldest may go. */
  void used(String target) {
    if (needed(target)) {
      int index = indexOf(target);
      Slot slot = index < 0 ? new Slot(target) : resident.remove(index);
      slot.inFlight++;
      resident.add(slot);
      trim();
    }
  }

  /** A request that was sent for this target has ended. */
  void ended(String target) {
    int index = indexOf(target);
    // Not there when LoRA was not known of yet when the request was sent.
    if (index >= 0 && resident.get(index).inFlight > 0) {
      resident.get(index).inFlight--;
      trim();
    }
  }

  private void trim() {
    int excess = resident.size() - slots;
    for (int i = 0; excess > 0 && i < resident.size(); ) {
      if (resident.get(i).inFlight == 0) {
        resident.remove(i);
        excess--;
      } else {
        i++;
      }
    }
    changed();
  }

  private void changed() {
    count = resident.size();
    names = 0;
    for (int i = 0; i < count; i++) {
      names |= bit(resident.get(i).adapter);
    }
  }

  private static long bit(String name) {
    int hash = name.hashCode();
    return 1L << (hash ^ (hash >>> 16));
  }

  @Override
  public int leastInFlight() {
    if (count < slots || slots == 0) {
      return 0;
    }
    int least = Integer.MAX_VALUE;
    for (int i = 0; i < slots; i++) {
      least = Math.min(least, resident.get(i).inFlight);
    }
    return least;
  }

  @Override
  public int slots() {
    return slots;
  }

  @Override
  public int loaded() {
    return Math.min(count, slots);
  }

  @Override
  public boolean needed(String targetModel) {
    if (slots == 0 || targetModel.isEmpty() || isBase(targetModel)) {
      return false;
    }
    return baseHash != 0 || !baseModel.isEmpty() || running(targetModel) || waiting(targetModel);
  }

  private boolean isBase(String model) {
    return model.hashCode() == baseHash && model.equals(baseModel);
  }

  @Override
  public boolean resident(String adapter) {
    return (names & bit(adapter)) != 0 && indexOf(adapter) >= 0;
  }

  @Override
  public boolean running(String adapter) {
    return contains(running, adapter);
  }

  @Override
  public boolean waiting(String adapter) {
    return contains(waiting, adapter);
  }

  @Override
  public int reported() {
    return reported;
  }

  private int reportedNow() {
    int count = running.size();
    for (int i = 0; i < waiting.size(); i++) {
      if (!running.contains(waiting.get(i))) {
        count++;
      }
    }
    return count;
  }

  /**
   * Without an iterator: asked once per candidate. Texts keep their hashes, so that unlike names
   * are nearly always told apart by a number.
   */
  private int indexOf(String name) {
    int hash = name.hashCode();
    for (int i = 0; i < resident.size(); i++) {
      String other = resident.get(i).adapter;
      if (other.hashCode() == hash && other.equals(name)) {
        return i;
      }
    }
    return -1;
  }

  private static boolean contains(List<String> names, String name) {
    int hash = name.hashCode();
    for (int i = 0; i < names.size(); i++) {
      String other = names.get(i);
      if (other.hashCode() == hash && other.equals(name)) {
        return true;
      }
    }
    return false;
  }
}
