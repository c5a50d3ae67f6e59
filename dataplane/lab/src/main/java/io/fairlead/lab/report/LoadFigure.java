package io.fairlead.lab.report;

import io.fairlead.lab.simulator.RunResult;
import io.fairlead.lab.simulator.TimeSeries;
import io.fairlead.lab.simulator.TimeSeries.Line;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Requests in flight per endpoint over time; of many endpoints their range, mean and busiest. */
final class LoadFigure extends SeriesFigure {

  private static final int MOST_LINES = 16;

  LoadFigure() {
    super(RunResult::load);
  }

  @Override
  void draw(LinePlot plot, TimeSeries series, int points) {
    List<Line> lines = series.lines();
    if (lines.size() <= MOST_LINES) {
      for (int i = 0; i < lines.size(); i++) {
        series(plot, "thin " + new LineStyle(i).line(), series, lines.get(i), points);
      }
      return;
    }
    Thinned high = Thinned.peaks(series.stepSeconds(), across(lines, Fold.HIGH), points);
    Thinned low = Thinned.lows(series.stepSeconds(), across(lines, Fold.LOW), points);
    plot.area("range", high.xs(), low.ys(), high.ys());
    series(plot, "thin c1 d1", series, busiest(lines), points);
    series(plot, "c0 d0", series, new Line("mean", across(lines, Fold.MEAN)), points);
  }

  @Override
  String note(TimeSeries series) {
    Line busiest = busiest(series.lines());
    double mean =
        series.lines().stream().mapToDouble(SeriesFigure::mean).average().orElse(Double.NaN);
    return String.format(
        Locale.ROOT, "busiest: %s, mean %.1f; all: %.1f", busiest.name(), mean(busiest), mean);
  }

  @Override
  void legend(Markup out, Iterable<TimeSeries> all) {
    boolean many = false;
    for (TimeSeries series : all) {
      many |= series.lines().size() > MOST_LINES;
    }
    out.element(
        "p",
        "Requests in flight, the highest of each stretch of time, in seconds. "
            + (many
                ? "Shaded: from the idlest endpoint to the busiest; thick: the mean; dashed: the"
                    + " endpoint that is busiest over all."
                : "A line per endpoint: point at one to see its name."),
        "class",
        "note");
  }

  private static Line busiest(List<Line> lines) {
    return lines.stream().max(Comparator.comparingDouble(SeriesFigure::mean)).orElseThrow();
  }

  private enum Fold {
    LOW,
    MEAN,
    HIGH
  }

  private static List<Double> across(List<Line> lines, Fold fold) {
    int length = lines.stream().mapToInt(line -> line.values().size()).min().orElse(0);
    List<Double> across = new ArrayList<>(length);
    for (int i = 0; i < length; i++) {
      int at = i;
      var each =
          lines.stream()
              .mapToDouble(line -> line.values().get(at))
              .filter(value -> !Double.isNaN(value))
              .summaryStatistics();
      across.add(
          each.getCount() == 0
              ? Double.NaN
              : switch (fold) {
                case LOW -> each.getMin();
                case MEAN -> each.getAverage();
                case HIGH -> each.getMax();
              });
    }
    return across;
  }
}
