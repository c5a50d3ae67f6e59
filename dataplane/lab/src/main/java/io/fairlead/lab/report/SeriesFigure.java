package io.fairlead.lab.report;

import io.fairlead.lab.simulator.RunResult;
import io.fairlead.lab.simulator.TimeSeries;
import io.fairlead.lab.simulator.TimeSeries.Line;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.function.Function;

/**
 * Something over time, a small plot per policy, all on the same axes. Of several seeds it shows the
 * first: a mean over seeds would smooth away the very bursts that it is there to show.
 */
abstract class SeriesFigure {

  private static final LinePlot.Size SIZE = new LinePlot.Size(300, 160, 34);
  private static final int STEPS = 4;

  /** When the highest peak is this much above the lowest policy's, small ones need a log scale. */
  private static final double APART = 4;

  private final Function<RunResult, TimeSeries> what;

  SeriesFigure(Function<RunResult, TimeSeries> what) {
    this.what = what;
  }

  /** Draws one policy's lines. */
  abstract void draw(LinePlot plot, TimeSeries series, int points);

  /** A sentence below one policy's plot; empty for none. */
  abstract String note(TimeSeries series);

  /** What is needed to read all the plots. */
  abstract void legend(Markup out, Iterable<TimeSeries> all);

  final void write(
      Markup out, String title, Map<String, NavigableMap<Long, RunResult>> policies, int points) {
    Map<String, TimeSeries> all = new LinkedHashMap<>();
    policies.forEach(
        (policy, runs) -> {
          TimeSeries series = what.apply(runs.firstEntry().getValue());
          if (series.lines().stream().anyMatch(line -> !line.values().isEmpty())) {
            all.put(policy, series);
          }
        });
    if (all.isEmpty()) {
      out.element("p", "The runs have no such series.", "class", "note");
      return;
    }
    Axis time =
        Axis.linear(all.values().stream().mapToDouble(SeriesFigure::end).max().orElse(1), 4);
    Axis y = axis(all.values().stream().mapToDouble(SeriesFigure::peak).toArray());
    legend(out, all.values());
    out.open("div", "class", "multiples");
    all.forEach(
        (policy, series) -> {
          out.open("figure").element("figcaption", policy);
          var plot = LinePlot.begin(out, SIZE, title + ", " + policy, time, y);
          draw(plot, series, points);
          plot.end();
          String note = note(series);
          if (!note.isEmpty()) {
            out.element("p", note, "class", "note");
          }
          out.closeLine();
        });
    out.closeLine();
  }

  static double mean(Line line) {
    return line.values().stream()
        .mapToDouble(Double::doubleValue)
        .filter(value -> !Double.isNaN(value))
        .average()
        .orElse(Double.NaN);
  }

  static void series(LinePlot plot, String cssClass, TimeSeries of, Line line, int points) {
    Thinned thinned = Thinned.peaks(of.stepSeconds(), line.values(), points);
    plot.line(cssClass, line.name(), thinned.xs(), thinned.ys());
  }

  private static Axis axis(double[] peaks) {
    double high = 0;
    double least = Double.POSITIVE_INFINITY;
    for (double peak : peaks) {
      high = Math.max(high, peak);
      least = Math.min(least, peak);
    }
    return high > APART * least && high > STEPS ? Axis.counts(high) : Axis.linear(high, STEPS);
  }

  private static double peak(TimeSeries series) {
    return values(series).stream().mapToDouble(Double::doubleValue).max().orElse(0);
  }

  private static List<Double> values(TimeSeries series) {
    return series.lines().stream()
        .flatMap(line -> line.values().stream())
        .filter(value -> !Double.isNaN(value))
        .toList();
  }

  private static double end(TimeSeries series) {
    return series.stepSeconds()
        * series.lines().stream().mapToInt(line -> line.values().size() - 1).max().orElse(0);
  }
}
