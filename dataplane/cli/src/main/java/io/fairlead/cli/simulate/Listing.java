package io.fairlead.cli.simulate;

import io.fairlead.lab.simulator.Policy;
import io.fairlead.lab.simulator.Scenario;
import io.fairlead.lab.workload.Preset;
import io.fairlead.lab.workload.Workloads;
import io.fairlead.stub.profile.EngineProfiles;
import java.util.ArrayList;
import java.util.List;

/** What can be simulated. */
final class Listing {

  private Listing() {}

  static List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add("workloads:");
    for (Preset preset : Workloads.presets()) {
      lines.add(
          "  %-18s %s (%s %s on %s, %.0f s)"
              .formatted(
                  preset.name(),
                  preset.summary(),
                  trimmed(preset.load()),
                  preset.unit().label(),
                  preset.pool(),
                  preset.seconds()));
    }
    lines.add("policies:");
    Policy.names().forEach(name -> lines.add("  " + name));
    lines.add("scenarios:");
    Scenario.names()
        .forEach(name -> lines.add("  %-18s %s".formatted(name, Scenario.named(name).summary())));
    lines.add("engines:");
    EngineProfiles.shipped().names().forEach(name -> lines.add("  " + name));
    return lines;
  }

  private static String trimmed(double number) {
    return number == Math.rint(number) ? Long.toString((long) number) : Double.toString(number);
  }
}
