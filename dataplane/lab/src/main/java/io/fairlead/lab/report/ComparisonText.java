package io.fairlead.lab.report;

import io.fairlead.lab.report.Comparison.Group;
import java.util.ArrayList;
import java.util.List;

/** A comparison for the terminal: the main measures only. */
final class ComparisonText {

  private static final List<Measure> MEASURES =
      List.of(
          Measure.TTFT_P50,
          Measure.TTFT_P99,
          Measure.TPOT_P50,
          Measure.END_TO_END_MEAN,
          Measure.REQUESTS_PER_SECOND,
          Measure.GOODPUT,
          Measure.HIT_RATE,
          Measure.MAX_OVER_MEAN_LOAD);

  private static final List<Measure> OF_FAULTS =
      List.of(Measure.FAILED_SHARE, Measure.SECONDS_UNTIL_RIGHT, Measure.MOST_OUT);

  private ComparisonText() {}

  static List<String> lines(Comparison comparison) {
    List<String> lines = new ArrayList<>();
    for (Group group : comparison.groups()) {
      if (!lines.isEmpty()) {
        lines.add("");
      }
      lines.add(group.title());
      List<Measure> measures = new ArrayList<>(MEASURES);
      OF_FAULTS.stream().filter(group::known).forEach(measures::add);
      List<String> head = new ArrayList<>(List.of("policy"));
      measures.forEach(measure -> head.add(measure.title()));
      head.add("end-to-end vs " + comparison.reference());
      var table = new TextTable(head.toArray(String[]::new));
      for (PolicySummary policy : group.policies()) {
        table.row(row(comparison, group, policy, measures).toArray(String[]::new));
      }
      lines.addAll(table.lines());
    }
    return List.copyOf(lines);
  }

  private static List<String> row(
      Comparison comparison, Group group, PolicySummary policy, List<Measure> measures) {
    List<String> row = new ArrayList<>(List.of(policy.policy()));
    for (Measure measure : measures) {
      PolicySummary.Cell cell = policy.cell(measure);
      row.add(
          Shown.mean(measure, cell.value())
              + (group.mark(policy, measure).equals("★") ? "*" : " "));
    }
    Versus versus = policy.cell(Measure.END_TO_END_MEAN).versus();
    if (policy.policy().equals(comparison.reference())) {
      row.add("reference");
    } else {
      row.add(versus == null ? Shown.ABSENT : Shown.ratio(versus) + " " + versus.verdict().word());
    }
    return row;
  }
}
