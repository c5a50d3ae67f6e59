package io.fairlead.cli.simulate;

import io.fairlead.cli.InputText;
import io.fairlead.lab.simulator.Scenario;
import io.fairlead.lab.simulator.ScenarioEvent;
import io.fairlead.lab.trace.TraceWorkload;
import io.fairlead.lab.workload.Preset;
import io.fairlead.lab.workload.ServedModel;
import io.fairlead.lab.workload.Traffic;
import io.fairlead.lab.workload.Workload;
import io.fairlead.lab.workload.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A workload as the command line names it.
 *
 * @param preset what it is made for
 * @param whole what comes, under the name given, from its start for every seed
 * @param trace the trace that it is, or null
 */
record LoadedWorkload(Preset preset, Workload whole, @Nullable TraceWorkload trace) {

  /** What traces are tried on unless told otherwise. */
  private static final String TRACE_POOL = "8xh100x2-32b";

  private static final double TRACE_WARM_UP = 0.1;

  private static final Pattern LOADED = Pattern.compile("(.*)@([^/@]*)");

  /**
   * Reads a name, a document's file or a trace's, perhaps with a load: {@code chat@1.2}.
   *
   * @throws IllegalArgumentException if there is no such workload, or the load is out of range
   */
  static LoadedWorkload of(String text) {
    return of(text, Path.of(""));
  }

  /**
   * The same, with files in this folder. A shipped workload comes before a file of its name, which
   * can be named by its path: {@code ./chat}.
   */
  static LoadedWorkload of(String text, Path folder) {
    // A path may have an @ in it.
    Matcher parts = LOADED.matcher(text);
    boolean loaded = parts.matches() && !Files.exists(folder.resolve(text));
    String name = loaded ? parts.group(1) : text;
    double factor = loaded ? factor(text, parts.group(2)) : 1;
    if (Workloads.presets().stream().noneMatch(preset -> preset.name().equals(name))) {
      Path file = folder.resolve(name);
      if (Files.exists(file)) {
        String load = text.substring(name.length());
        return name.matches(".*\\.ya?ml")
            ? document(file, factor, load)
            : trace(TraceWorkload.read(file).withSpeed(factor), load);
      }
    }
    Workload plain = Workloads.named(name, Workloads.Options.times(factor));
    return new LoadedWorkload(Workloads.preset(name), new Renamed(text, plain), null);
  }

  /**
   * What comes in runs of this length. Of a trace, each seed is another window that is so long.
   *
   * @param seconds how long requests arrive
   */
  Workload workload(double seconds) {
    return trace == null ? whole : new Renamed(whole.name(), trace.inWindows(seconds));
  }

  /**
   * What happens in the course of runs of this length: what belongs to the workload, and what is
   * asked for.
   */
  List<ScenarioEvent> happening(Scenario askedFor, double seconds) {
    List<ScenarioEvent> events = new ArrayList<>();
    if (!preset.scenario().isEmpty()) {
      events.addAll(Scenario.named(preset.scenario()).events(seconds));
    }
    events.addAll(askedFor.events(seconds));
    return events;
  }

  private static LoadedWorkload document(Path file, double factor, String load) {
    String name = file.getFileName().toString().replaceFirst("\\.ya?ml$", "");
    try {
      Workloads.Own own = Workloads.read(name, file.toString(), InputText.read(file), factor);
      return new LoadedWorkload(own.preset(), new Renamed(name + load, own.workload()), null);
    } catch (IOException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private static LoadedWorkload trace(TraceWorkload trace, String load) {
    double seconds = Math.max(1, trace.seconds());
    Preset preset =
        new Preset(
            trace.name(),
            "a trace",
            trace.size() / seconds,
            Preset.Unit.REQUESTS_PER_SECOND,
            TRACE_POOL,
            seconds,
            seconds * TRACE_WARM_UP);
    return new LoadedWorkload(preset, new Renamed(trace.name() + load, trace), trace);
  }

  private static double factor(String text, String factor) {
    try {
      return Double.parseDouble(factor);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "workload: the load in \"" + text + "\" is not a number, as in chat@1.2", e);
    }
  }

  private record Renamed(String name, Workload of) implements Workload {

    @Override
    public List<ServedModel> models() {
      return of.models();
    }

    @Override
    public Traffic start(long seed) {
      return of.start(seed);
    }
  }
}
