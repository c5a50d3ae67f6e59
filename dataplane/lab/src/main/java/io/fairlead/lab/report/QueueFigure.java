package io.fairlead.lab.report;

import io.fairlead.lab.simulator.RunResult;
import io.fairlead.lab.simulator.TimeSeries;
import io.fairlead.lab.simulator.TimeSeries.Line;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;

/** Requests without a first token by band over time. */
final class QueueFigure extends SeriesFigure {

  /** Those in which anything ever waited. */
  private final List<String> bands;

  QueueFigure(Collection<NavigableMap<Long, RunResult>> policies) {
    super(RunResult::waiting);
    var names = new LinkedHashSet<String>();
    policies.forEach(
        runs ->
            runs.firstEntry().getValue().waiting().lines().stream()
                .filter(line -> line.values().stream().anyMatch(value -> value > 0))
                .forEach(line -> names.add(line.name())));
    bands = new ArrayList<>(names);
  }

  static void write(Markup out, Map<String, NavigableMap<Long, RunResult>> policies, int points) {
    new QueueFigure(policies.values())
        .write(out, "Waiting for the first token, by band", policies, points);
  }

  @Override
  void draw(LinePlot plot, TimeSeries series, int points) {
    for (Line line : series.lines()) {
      if (bands.contains(line.name())) {
        series(plot, css(line.name()), series, line, points);
      }
    }
  }

  @Override
  String note(TimeSeries series) {
    return "";
  }

  @Override
  void legend(Markup out, Iterable<TimeSeries> all) {
    out.element(
        "p",
        "Requests that wait for their first token, the highest of each stretch of time.",
        "class",
        "note");
    out.open("ul", "class", "legend");
    for (String band : bands) {
      out.open("li")
          .open("svg", "viewBox", "0 0 36 12", "aria-hidden", "true")
          .empty("path", "class", "l " + css(band), "d", "M1 6H35")
          .close()
          .text(band)
          .close();
    }
    out.closeLine();
  }

  /** Bands differ in colour and in dashes. */
  private String css(String band) {
    int index = bands.indexOf(band);
    return "c" + index % LineStyle.COLOURS + " d" + index % 4;
  }
}
