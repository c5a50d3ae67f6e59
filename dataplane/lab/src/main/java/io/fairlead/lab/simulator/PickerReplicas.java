package io.fairlead.lab.simulator;

import io.fairlead.core.prefix.CacheEvent;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The pickers of a run: replicas that share its pool, each of which may be restarted. */
final class PickerReplicas {

  private final Settings settings;
  private final Supplier<CompiledConfig> config;
  private final Senses senses;
  private final SimulatedPicker.Effects effects;

  /** By their numbers; null for one that is being restarted. */
  private final List<@Nullable SimulatedPicker> replicas = new ArrayList<>();

  /** Of each, how many restarts keep it away. */
  private final int[] restarting;

  /** Those that get requests, in the order of their numbers. */
  private List<SimulatedPicker> current = List.of();

  /** Those, and those before them that still have requests. */
  private final List<SimulatedPicker> processes = new ArrayList<>();

  private long started;

  /**
   * No picker yet.
   *
   * @param config what each runs
   */
  PickerReplicas(
      Settings settings,
      Supplier<CompiledConfig> config,
      Senses senses,
      SimulatedPicker.Effects effects) {
    this.settings = settings;
    this.config = config;
    this.senses = senses;
    this.effects = effects;
    restarting = new int[settings.pickers()];
  }

  /** All start, at the beginning of the run. */
  void start(List<SimulatedServer> members) {
    for (int i = 0; i < settings.pickers(); i++) {
      replicas.add(started(0, members));
    }
    changed();
  }

  private SimulatedPicker started(long now, List<SimulatedServer> members) {
    SimulatedPicker picker =
        new SimulatedPicker(
            ++started, config.get(), now, members, settings.client(), senses, effects);
    processes.add(picker);
    return picker;
  }

  /** All pickers learn how many they are. */
  private void changed() {
    current = replicas.stream().filter(Objects::nonNull).toList();
    current.forEach(picker -> picker.replicas(current.size()));
  }

  /** Those that get requests, in the order of their numbers. */
  List<SimulatedPicker> current() {
    return current;
  }

  /** Those, and those before them that still have requests. */
  List<SimulatedPicker> processes() {
    return processes;
  }

  /** A picker's number; below 0 for one that gets no requests any more. */
  int number(SimulatedPicker picker) {
    return replicas.indexOf(picker);
  }

  /** One gets no more requests. */
  void retire(int number) {
    restarting[number]++;
    replicas.set(number, null);
    changed();
  }

  /** Another takes the place of one that was retired, unless something else keeps it away. */
  void replace(long now, int number, List<SimulatedServer> members) {
    restarting[number]--;
    if (restarting[number] == 0) {
      replicas.set(number, started(now, members));
      changed();
    }
  }

  /** Time has moved on. */
  void tick(long now) {
    for (SimulatedPicker picker : processes) {
      picker.tick(now);
    }
    if (processes.size() > current.size()) {
      letGo(now);
    }
  }

  /** Those are gone that get no requests any more, and have none. */
  private void letGo(long now) {
    List<SimulatedPicker> gone =
        processes.stream()
            .filter(picker -> !current.contains(picker) && picker.active() == 0)
            .toList();
    processes.removeAll(gone);
    gone.forEach(picker -> processes.forEach(other -> other.hearsNoMore(now, picker)));
  }

  /** Each hears what the others have sent. */
  void hear(long now) {
    for (SimulatedPicker picker : current) {
      for (SimulatedPicker other : processes) {
        if (other != picker) {
          picker.hear(now, other);
        }
      }
    }
  }

  /** An engine tells what happened to its cache. */
  void cacheTold(long now, SimulatedServer server, List<CacheEvent> events) {
    current.forEach(picker -> picker.cacheTold(now, server, events));
  }

  /** Checks that none still counts a request when all have ended. */
  void checkIdle() {
    for (SimulatedPicker picker : processes) {
      if (picker.active() != 0) {
        throw new IllegalStateException(
            "a picker still counts " + picker.active() + " requests after all have ended");
      }
    }
  }
}
