package io.fairlead.lab.report;

import io.fairlead.lab.simulator.RunResult;
import io.fairlead.lab.simulator.TimeSeries;
import io.fairlead.lab.simulator.TimeSeries.Line;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/** Requests per endpoint over time; of many endpoints their range, mean and busiest. */
final class LoadFigure extends SeriesFigure {

  private static final int MOST_LINES = 16;

  private final String shown;

  private LoadFigure(Function<RunResult, TimeSeries> what, String shown) {
    super(what);
    this.shown = shown;
  }

  /** Those in flight. */
  static LoadFigure inFlight() {
    return new LoadFigure(
        RunResult::load, "Requests in flight, the highest of each stretch of time. ");
  }

  /** Those sent there. */
  static LoadFigure sent() {
    return new LoadFigure(run -> run.disruption().sends(), "Requests sent. ");
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
    Spread spread = Spread.of(lines);
    Thinned high = Thinned.peaks(series.stepSeconds(), spread.highs(), points);
    Thinned low = Thinned.lows(series.stepSeconds(), spread.lows(), points);
    plot.area("range", high.xs(), low.ys(), high.ys());
    series(plot, "thin c1 d1", series, busiest(lines), points);
    series(plot, "c0 d0", series, new Line("mean", spread.means()), points);
  }

  @Override
  String note(TimeSeries series) {
    double[] means = series.lines().stream().mapToDouble(SeriesFigure::mean).toArray();
    int busiest = busiest(means);
    return String.format(
        Locale.ROOT,
        "busiest: %s, mean %.1f; all: %.1f",
        series.lines().get(busiest).name(),
        means[busiest],
        Arrays.stream(means).average().orElse(Double.NaN));
  }

  @Override
  void legend(Markup out, Iterable<TimeSeries> all) {
    boolean many = false;
    for (TimeSeries series : all) {
      many |= series.lines().size() > MOST_LINES;
    }
    out.element(
        "p",
        shown
            + (many
                ? "Shaded: from the idlest endpoint to the busiest; thick: the mean; dashed: the"
                    + " endpoint that is busiest over all."
                : "A line per endpoint: point at one to see its name."),
        "class",
        "note");
  }

  private static Line busiest(List<Line> lines) {
    return lines.get(busiest(lines.stream().mapToDouble(SeriesFigure::mean).toArray()));
  }

  private static int busiest(double[] means) {
    int busiest = 0;
    for (int i = 1; i < means.length; i++) {
      busiest = means[i] > means[busiest] ? i : busiest;
    }
    return busiest;
  }
}
