package io.fairlead.lab.report;

import io.fairlead.lab.report.Comparison.Group;
import io.fairlead.lab.report.Measure.Unit;
import io.fairlead.lab.simulator.RunResult;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;

/**
 * A report as one page that needs nothing else: styles and plots are in it, scripts it has none.
 */
final class HtmlReport {

  /** Points of all time series together; they are most of the page. */
  private static final int POINTS = 400_000;

  private static final int MOST_POINTS = 300;
  private static final int LEAST_POINTS = 40;
  private static final int OPEN_MULTIPLES = 40;

  private final Report report;
  private final Comparison comparison;
  private final Map<Group, Map<String, NavigableMap<Long, RunResult>>> runs;
  private final Markup out = new Markup();
  private final HtmlTables tables;

  HtmlReport(Report report) {
    this.report = report;
    this.comparison = report.comparison();
    this.runs = Comparison.sorted(report.runs());
    this.tables = new HtmlTables(out, comparison);
  }

  String html() {
    out.raw("<!DOCTYPE html>\n").open("html", "lang", "en").open("head");
    out.empty("meta", "charset", "utf-8");
    out.empty("meta", "name", "viewport", "content", "width=device-width, initial-scale=1");
    out.element("title", report.title()).open("style").raw(styles()).close().closeLine();
    out.open("body").open("main");
    header();
    overview();
    int number = 0;
    for (Group group : comparison.groups()) {
      Group key = new Group(group.workload(), group.pool(), List.of());
      section(++number, group, Objects.requireNonNull(runs.get(key)));
    }
    out.close().close().closeLine();
    return out.toString();
  }

  private void header() {
    out.element("h1", report.title());
    out.open("pre").element("code", report.command()).closeLine();
    if (!report.parameters().isEmpty()) {
      out.open("dl");
      report
          .parameters()
          .forEach(
              (name, value) -> out.open("div").element("dt", name).element("dd", value).close());
      out.closeLine();
    }
    out.element("p", ReadingGuide.text(comparison) + ReadingGuide.MARKS, "class", "note");
  }

  private void overview() {
    if (comparison.groups().size() < 2) {
      return;
    }
    out.open("nav").open("ul");
    int number = 0;
    for (Group group : comparison.groups()) {
      out.open("li").element("a", group.title(), "href", "#w" + ++number).close();
    }
    out.close().closeLine();
    out.element("h2", "All workloads");
    tables.overview(Measure.END_TO_END_MEAN);
    tables.overview(Measure.TTFT_P99);
  }

  private void section(
      int number, Group group, Map<String, NavigableMap<Long, RunResult>> policies) {
    out.open("section", "id", "w" + number).element("h2", group.title());
    List<Measure> telling = group.telling();
    tables.group(group, telling.stream().filter(each -> each.unit() == Unit.MILLIS).toList());
    tables.group(group, telling.stream().filter(each -> each.unit() != Unit.MILLIS).toList());
    String same = ReadingGuide.same(group);
    if (!same.isEmpty()) {
      out.element("p", same, "class", "note");
    }
    out.open("div", "class", "pair");
    CdfFigure.write(
        out, "TTFT: share of requests that take longer", policies, RunResult::ttftMs, MOST_POINTS);
    CdfFigure.write(
        out,
        "End to end: share of requests that take longer",
        policies,
        RunResult::endToEndMs,
        MOST_POINTS);
    out.closeLine();
    CdfFigure.legend(out, policies.keySet());
    HitBars.write(out, group);
    int points = points();
    String seed = " (seed " + group.policies().getFirst().seeds().getFirst() + ")";
    details("Load per endpoint over time" + seed);
    LoadFigure.inFlight().write(out, "Load per endpoint", policies, points);
    out.closeLine();
    if (group.known(Measure.SECONDS_UNTIL_RIGHT)) {
      details("Sent to each endpoint over time" + seed);
      LoadFigure.sent().write(out, "Sent to each endpoint", policies, points);
      out.closeLine();
    }
    details("Queue by band over time" + seed);
    QueueFigure.write(out, policies, points);
    out.closeLine();
    out.closeLine();
  }

  private void details(String title) {
    int multiples = comparison.groups().stream().mapToInt(group -> group.policies().size()).sum();
    if (multiples <= OPEN_MULTIPLES) {
      out.open("details", "open", "open");
    } else {
      out.open("details");
    }
    out.element("summary", title);
  }

  /** Points per line of a time series, so that the page stays small whatever there is to draw. */
  private int points() {
    long lines =
        runs.values().stream()
            .flatMap(policies -> policies.values().stream())
            .map(seeds -> seeds.firstEntry().getValue())
            .mapToLong(run -> run.load().lines().size() + run.waiting().lines().size())
            .sum();
    return Math.clamp(POINTS / Math.max(1, lines), LEAST_POINTS, MOST_POINTS);
  }

  private String styles() {
    var styles = new StringBuilder(resource("report.css"));
    int most =
        comparison.groups().stream().mapToInt(group -> group.policies().size()).max().orElse(0);
    for (int i = 0; i < most; i++) {
      styles.append("section:has(.k%1$d:hover) .s:not(.s%1$d){opacity:.12}\n".formatted(i));
    }
    return styles.toString();
  }

  private static String resource(String name) {
    try (InputStream in = HtmlReport.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
