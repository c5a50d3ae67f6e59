package io.fairlead.lab.evaluation;

import io.fairlead.lab.evaluation.Judgement.Criterion;
import io.fairlead.lab.evaluation.Row.Setting;
import io.fairlead.lab.report.Measure;
import io.fairlead.lab.report.Shown;
import io.fairlead.lab.simulator.Flow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A part's results as tables. */
final class ResultTables {

  private static final String NONE = "–";

  private final Plan.Part part;
  private final PartResults results;
  private final boolean manyPools;

  ResultTables(Plan.Part part, PartResults results) {
    this.part = part;
    this.results = results;
    Map<String, String> pools = new LinkedHashMap<>();
    results.settings().forEach(each -> pools.put(each.title(), each.pool()));
    // The title alone tells cases apart unless a workload is on two pools.
    manyPools = pools.size() < results.settings().size();
  }

  private String title(Setting setting) {
    return manyPools ? setting.fullTitle() : setting.title();
  }

  /** One line per case and subject. */
  String verdict() {
    boolean many = part.subjects().size() > 1;
    List<String> head = new ArrayList<>(List.of("case"));
    if (many) {
      head.add("judged");
    }
    head.add("best peer");
    for (Criterion criterion : Criterion.values()) {
      head.add(criterion.word());
    }
    var table = new MarkdownTable(head);
    Map<String, List<Judgement>> lines = new LinkedHashMap<>();
    for (Judgement judgement : Verdict.of(part, results).judgements()) {
      String key = title(judgement.setting()) + " " + judgement.subject();
      lines.computeIfAbsent(key, k -> new ArrayList<>()).add(judgement);
    }
    for (List<Judgement> line : lines.values()) {
      Judgement first = line.getFirst();
      List<String> cells = new ArrayList<>(List.of(title(first.setting())));
      if (many) {
        cells.add("`" + first.subject() + "`");
      }
      cells.add("`" + first.peer() + "`");
      for (Criterion criterion : Criterion.values()) {
        cells.add(
            line.stream()
                .filter(each -> each.criterion() == criterion)
                .map(each -> cell(each, first))
                .findFirst()
                .orElse(""));
      }
      table.row(cells);
    }
    return table.text();
  }

  /** A rate may be beside another peer than the first of its line. */
  private static String cell(Judgement judgement, Judgement first) {
    return judgement.peer().equals(first.peer())
        ? judgement.cell()
        : judgement.cell() + " (`" + judgement.peer() + "`)";
  }

  /** Means of all contenders; in brackets those of runs that could not keep up. */
  String values(List<Measure> measures) {
    List<String> head = new ArrayList<>(List.of("case"));
    boolean many = measures.size() > 1;
    if (many) {
      head.add("measure");
    }
    part.all().forEach(name -> head.add("`" + name + "`"));
    var table = new MarkdownTable(head);
    for (Setting setting : results.settings()) {
      for (Measure measure : measures) {
        List<String> cells = new ArrayList<>(List.of(title(setting)));
        if (many) {
          cells.add(measure.title());
        }
        part.all()
            .forEach(
                name ->
                    cells.add(
                        results.row(setting, name).map(row -> value(row, measure)).orElse(NONE)));
        table.row(cells);
      }
    }
    return table.text();
  }

  private static String value(Row row, Measure measure) {
    String value = Shown.value(measure, row.mean(measure));
    return row.neverDiverged() ? value : "(" + value + ")";
  }

  /** The highest load of which each contender serves nearly all, as of all lower ones. */
  String knees() {
    List<String> head = new ArrayList<>(List.of("workload"));
    part.all().forEach(name -> head.add("`" + name + "`"));
    head.add("sustained/s of each at the highest load that was run");
    var table = new MarkdownTable(head);
    for (String workload : results.settings().stream().map(Setting::workload).distinct().toList()) {
      List<Setting> loads =
          results.settings().stream().filter(each -> each.workload().equals(workload)).toList();
      List<String> cells = new ArrayList<>(List.of("`" + workload + "`"));
      part.all().forEach(name -> cells.add(knee(loads, name)));
      List<String> rates =
          part.all().stream()
              .map(name -> results.row(loads.getLast(), name))
              .map(row -> row.map(ResultTables::rate).orElse(NONE))
              .toList();
      cells.add("@%s: %s".formatted(Row.plain(loads.getLast().load()), String.join(" · ", rates)));
      table.row(cells);
    }
    return table.text();
  }

  private static String rate(Row row) {
    Measure rate = Measure.SUSTAINED_PER_SECOND;
    return Shown.value(rate, row.mean(rate));
  }

  private String knee(List<Setting> loads, String name) {
    String last = "below " + Row.plain(loads.getFirst().load());
    for (Setting setting : loads) {
      Optional<Row> row = results.row(setting, name);
      if (row.isPresent() && !row.get().servedAll()) {
        return last;
      }
      last = Row.plain(setting.load());
    }
    return last + " or more";
  }

  /** Latency of each flow, where a workload has some. */
  String flows() {
    var table =
        new MarkdownTable(
            List.of(
                "case",
                "flow",
                "contender",
                "requests",
                "rejected",
                "goodput",
                "mean, ms",
                "TTFT p99, ms"));
    for (Row row : results.rows()) {
      for (Flow flow : row.flows()) {
        table.row(
            List.of(
                title(row.setting()),
                flow.name(),
                "`" + row.contender() + "`",
                Long.toString(flow.arrived()),
                share(Measure.REJECTED_SHARE, flow.rejected(), flow.arrived()),
                share(Measure.GOODPUT, flow.good(), flow.arrived()),
                Shown.value(Measure.END_TO_END_MEAN, flow.meanMs()),
                Shown.value(Measure.TTFT_P99, flow.ttftP99Ms())));
      }
    }
    return table.text();
  }

  private static String share(Measure measure, long part, long whole) {
    return Shown.value(measure, whole == 0 ? Double.NaN : (double) part / whole);
  }
}
