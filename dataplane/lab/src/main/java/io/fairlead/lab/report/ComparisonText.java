package io.fairlead.lab.report;

import io.fairlead.lab.report.Comparison.Group;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

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
      if (group.policies().stream().anyMatch(policy -> rejected(policy) > 0)) {
        measures.add(Measure.REJECTED_SHARE);
      }
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
    row.add(beside(comparison.reference(), group, policy));
    return row;
  }

  private static String beside(String reference, Group group, PolicySummary policy) {
    if (policy.policy().equals(reference)) {
      return "reference";
    }
    Versus versus = policy.cell(Measure.END_TO_END_MEAN).versus();
    if (versus != null) {
      return Shown.ratio(versus) + " " + versus.verdict().word();
    }
    return group.policies().stream()
        .filter(each -> each.policy().equals(reference))
        .mapToDouble(each -> 100 * (rejected(policy) - rejected(each)))
        .mapToObj(
            points ->
                String.format(
                    Locale.ROOT,
                    "rejects %.1f points %s",
                    Math.abs(points),
                    points > 0 ? "more" : "less"))
        .findFirst()
        .orElse(Shown.ABSENT);
  }

  private static double rejected(PolicySummary policy) {
    return policy.cell(Measure.REJECTED_SHARE).value().mean();
  }
}
