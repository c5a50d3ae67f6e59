package io.fairlead.cli.simulate;

import io.fairlead.lab.simulator.FoundShare;
import io.fairlead.lab.simulator.RightShare;
import io.fairlead.lab.simulator.RunResult;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Whether servers got what was right for them when a scenario changed them, line by line. */
final class ShareLines {

  private ShareLines() {}

  /** The lines of all policies; none where nothing has a right share. */
  static List<String> of(List<RunResult> results) {
    Map<String, List<RunResult>> runs = new LinkedHashMap<>();
    results.forEach(
        run ->
            runs.computeIfAbsent(
                    run.workload() + " on " + run.pool() + ", " + run.policy(),
                    name -> new ArrayList<>())
                .add(run));
    List<String> lines = new ArrayList<>();
    runs.forEach(
        (name, seeds) ->
            FoundShare.of(seeds).forEach(found -> lines.add(name + ": " + line(found))));
    return lines;
  }

  private static String line(FoundShare found) {
    RightShare right = found.right();
    return String.format(
        Locale.ROOT,
        "%s %s at %.0f s: %.1f %% of the requests are right; at most 20 %% more %s, within 20 %% %s;"
            + " %.1f %% then until %.0f s",
        right.server(),
        right.what(),
        right.from(),
        100 * right.share(),
        after(found.secondsUntilNoMore()),
        after(found.secondsUntilRight()),
        100 * found.since(),
        right.until());
  }

  private static String after(double seconds) {
    return Double.isNaN(seconds) ? "never" : String.format(Locale.ROOT, "after %.1f s", seconds);
  }
}
