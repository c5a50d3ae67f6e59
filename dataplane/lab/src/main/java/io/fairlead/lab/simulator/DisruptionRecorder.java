package io.fairlead.lab.simulator;

import io.fairlead.core.HealthChange;
import io.fairlead.core.HealthState;
import io.fairlead.lab.simulator.TimeSeries.Line;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** Takes down what events do to requests, and what pickers do about them. */
final class DisruptionRecorder {

  private static final double NANOS_PER_SECOND = 1e9;
  private static final double WINDOW_SECONDS = 10;

  private final SimulationSpec spec;
  private final double onset;
  private final Counts windows = new Counts(2, WINDOW_SECONDS);
  private final Counts sends;
  private final List<Set<String>> out = new ArrayList<>();
  private final List<List<Double>> outLooks = new ArrayList<>();
  private double lastFailure = Double.NEGATIVE_INFINITY;
  private int mostOut;
  private long healthChanges;

  /** Counts of several things in stretches of time. */
  private static final class Counts {

    private final double stretchSeconds;
    private final List<List<Double>> lines = new ArrayList<>();

    Counts(int lines, double stretchSeconds) {
      this.stretchSeconds = stretchSeconds;
      for (int i = 0; i < lines; i++) {
        this.lines.add(new ArrayList<>());
      }
    }

    void add(int line, long nanos) {
      int stretch = (int) (nanos / NANOS_PER_SECOND / stretchSeconds);
      for (List<Double> each : lines) {
        while (each.size() <= stretch) {
          each.add(0.0);
        }
      }
      lines.get(line).set(stretch, lines.get(line).get(stretch) + 1);
    }

    TimeSeries series(List<String> names) {
      return new TimeSeries(
          stretchSeconds,
          IntStream.range(0, lines.size())
              .mapToObj(i -> new Line(names.get(i), lines.get(i)))
              .toList());
    }
  }

  /**
   * A recorder of one run.
   *
   * @param lookSeconds between two looks
   */
  DisruptionRecorder(SimulationSpec spec, double lookSeconds) {
    this.spec = spec;
    onset = spec.events().stream().mapToDouble(ScenarioEvent::at).min().orElse(Double.NaN);
    sends = new Counts(Membership.of(spec.pool(), spec.events()).members().size(), lookSeconds);
    for (int i = 0; i < spec.settings().pickers(); i++) {
      out.add(new HashSet<>());
      outLooks.add(new ArrayList<>());
    }
  }

  void look() {
    for (int i = 0; i < out.size(); i++) {
      outLooks.get(i).add((double) out.get(i).size());
    }
  }

  void arrived(Flight flight) {
    windows.add(0, flight.arrivedAt);
  }

  void failed(Flight flight) {
    windows.add(1, flight.arrivedAt);
    lastFailure = Math.max(lastFailure, flight.arrivedAt / NANOS_PER_SECOND);
  }

  void sent(long now, int server) {
    sends.add(server, now);
  }

  void healthChanged(int picker, HealthChange change) {
    healthChanges++;
    Set<String> theirs = out.get(picker);
    if (change.to() == HealthState.OUT) {
      theirs.add(change.endpoint().name());
      mostOut = Math.max(mostOut, theirs.size());
    } else {
      theirs.remove(change.endpoint().name());
    }
  }

  /** What it had left out, the one after it knows nothing of. */
  void pickerLeft(int picker) {
    out.get(picker).clear();
  }

  Disruption result(List<SimulatedServer> servers, double lookSeconds) {
    if (spec.events().isEmpty()) {
      return Disruption.NONE;
    }
    List<Line> outLines =
        IntStream.range(0, out.size())
            .mapToObj(i -> new Line("picker-" + i, outLooks.get(i)))
            .toList();
    return new Disruption(
        Math.max(0, lastFailure - onset),
        windows.series(List.of("arrived", "failed")),
        sends.series(servers.stream().map(server -> server.spec().name()).toList()),
        new TimeSeries(lookSeconds, outLines),
        mostOut,
        healthChanges,
        RightShares.of(spec));
  }
}
