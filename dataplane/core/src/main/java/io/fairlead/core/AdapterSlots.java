package io.fairlead.core;

import io.fairlead.plugin.Adapters;
import java.util.ArrayList;
import java.util.List;

/**
 * LoRA adapters of one endpoint, least recently used first. A server shows an adapter only while
 * its requests run, so what was placed is remembered, and what the server shows is added to it.
 */
final class AdapterSlots implements Adapters {

  private final ArrayList<String> resident = new ArrayList<>();
  private int slots;
  private String baseModel = "";
  private List<String> running = List.of();
  private List<String> waiting = List.of();
  private int reported;

  void scraped(EndpointMetrics metrics) {
    if (metrics.maxAdapters() > 0) {
      slots = metrics.maxAdapters();
    }
    if (!metrics.baseModel().isEmpty()) {
      baseModel = metrics.baseModel();
    }
    running = metrics.runningAdapters();
    waiting = metrics.waitingAdapters();
    reported = reportedNow();
    for (int i = 0; i < running.size(); i++) {
      if (!resident.contains(running.get(i))) {
        resident.add(running.get(i));
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

  /** A request for this target was sent: its adapter is or will be loaded, the oldest may go. */
  void used(String target) {
    if (needed(target)) {
      resident.remove(target);
      resident.add(target);
      trim();
    }
  }

  private void trim() {
    int excess = resident.size() - slots;
    if (excess > 0) {
      resident.subList(0, excess).clear();
    }
  }

  @Override
  public int slots() {
    return slots;
  }

  @Override
  public int loaded() {
    return resident.size();
  }

  @Override
  public boolean needed(String targetModel) {
    if (slots == 0 || targetModel.isEmpty() || targetModel.equals(baseModel)) {
      return false;
    }
    return !baseModel.isEmpty() || running(targetModel) || waiting(targetModel);
  }

  @Override
  public boolean resident(String adapter) {
    return contains(resident, adapter);
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
