package io.fairlead.lab.report;

import io.fairlead.lab.simulator.RunResult;
import io.fairlead.lab.simulator.TimeSeries;
import io.fairlead.lab.simulator.TimeSeries.Line;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.function.Function;

/**
 * Something over time, a small plot per policy, all on the same axes. Of several seeds it shows the
 * first: a mean over seeds would smooth away the very bursts that it is there to show.
 */
abstract class SeriesFigure {

  private static final LinePlot.Size SIZE = new LinePlot.Size(300, 160, 34);

  /** Peaks up to this need none. */
  private static final int LOW = 4;

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
    Axis time = Axis.seconds(all.values().stream().mapToDouble(SeriesFigure::end).max().orElse(1));
    Axis y = axis(all.values().stream().mapToDouble(SeriesFigure::peak).toArray());
    legend(out, all.values());
    if (y.scale() == Axis.Scale.LOG_FROM_ZERO) {
      out.element("p", "The upright axis is logarithmic from 1 on.", "class", "note");
    }
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

  /** Over all looks that have a value. */
  static double mean(Line line) {
    double sum = 0;
    int count = 0;
    for (double value : line.values()) {
      if (!Double.isNaN(value)) {
        sum += value;
        count++;
      }
    }
    return count == 0 ? Double.NaN : sum / count;
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
    return high > APART * least && high > LOW ? Axis.counts(high) : Axis.linear(high);
  }

  private static double peak(TimeSeries series) {
    double peak = 0;
    for (Line line : series.lines()) {
      for (double value : line.values()) {
        peak = value > peak ? value : peak;
      }
    }
    return peak;
  }

  private static double end(TimeSeries series) {
    return series.stepSeconds()
        * series.lines().stream().mapToInt(line -> line.values().size() - 1).max().orElse(0);
  }
}
