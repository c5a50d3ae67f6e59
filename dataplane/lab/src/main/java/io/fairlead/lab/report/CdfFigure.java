package io.fairlead.lab.report;

import io.fairlead.lab.simulator.Distribution;
import io.fairlead.lab.simulator.RunResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.function.Function;

/**
 * How the latency of requests is spread, a line per policy: which share of them takes longer, on a
 * logarithmic axis.
 */
final class CdfFigure {

  private static final LinePlot.Size SIZE = new LinePlot.Size(460, 280, 34);
  private static final int SHAPES = 4;

  private CdfFigure() {}

  static void write(
      Markup out,
      String title,
      Map<String, NavigableMap<Long, RunResult>> policies,
      Function<RunResult, Distribution> what,
      int points) {
    List<Cdf> cdfs = new ArrayList<>();
    policies
        .values()
        .forEach(runs -> cdfs.add(Cdf.of(runs.values().stream().map(what).toList(), points)));
    double low = cdfs.stream().mapToDouble(Cdf::low).filter(v -> v > 0).min().orElse(Double.NaN);
    double high = cdfs.stream().mapToDouble(Cdf::high).filter(v -> v > 0).max().orElse(Double.NaN);
    out.open("figure").element("figcaption", title);
    var plot = LinePlot.begin(out, SIZE, title, Axis.millis(low, high), Axis.tail());
    int index = 0;
    for (String policy : policies.keySet()) {
      Cdf cdf = cdfs.get(index);
      plot.styled(new LineStyle(index++), policy, cdf.values(), cdf.left(), SHAPES);
    }
    plot.end();
    out.closeLine();
  }

  /** Which line is whose; pointing at a name dims the other lines. */
  static void legend(Markup out, Iterable<String> policies) {
    out.open("ul", "class", "legend");
    int index = 0;
    for (String policy : policies) {
      var style = new LineStyle(index++);
      out.open("li", "class", "k" + style.index());
      out.open("svg", "viewBox", "0 0 36 12", "aria-hidden", "true")
          .empty("path", "class", "l " + style.line(), "d", "M1 6H35")
          .empty("path", "class", style.shape(), "d", style.shapeAt(18, 6))
          .close();
      out.text(policy).close();
    }
    out.closeLine();
  }
}
