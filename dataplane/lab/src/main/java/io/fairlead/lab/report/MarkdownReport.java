package io.fairlead.lab.report;

import io.fairlead.lab.report.Comparison.Group;
import io.fairlead.lab.report.PolicySummary.Cell;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A report as Markdown: the tables only. */
final class MarkdownReport {

  private final Report report;
  private final StringBuilder out = new StringBuilder();

  MarkdownReport(Report report) {
    this.report = report;
  }

  String markdown() {
    out.append("# ").append(text(report.title())).append("\n\n");
    out.append("```\n").append(report.command().replace("```", "'''")).append("\n```\n\n");
    for (Map.Entry<String, String> parameter : report.parameters().entrySet()) {
      out.append("- ").append(text(parameter.getKey())).append(": ");
      out.append(text(parameter.getValue())).append('\n');
    }
    out.append(report.parameters().isEmpty() ? "" : "\n");
    out.append(text(ReadingGuide.text(report.comparison())));
    out.append(" The best is **bold**, ≈ before a value is a tie with it; in a column without");
    out.append(" marks none stands out.\n");
    if (report.comparison().groups().size() > 1) {
      out.append("\n## All workloads\n");
      overview(Measure.END_TO_END_MEAN);
      overview(Measure.TTFT_P99);
    }
    for (Group group : report.comparison().groups()) {
      out.append("\n## ").append(text(group.title())).append("\n\n");
      List<Measure> telling = group.telling();
      table(group, telling.stream().filter(each -> each.unit() == Measure.Unit.MILLIS).toList());
      table(group, telling.stream().filter(each -> each.unit() != Measure.Unit.MILLIS).toList());
      String same = ReadingGuide.same(group);
      out.append(same.isEmpty() ? "" : text(same) + "\n");
    }
    return out.toString();
  }

  /** One measure of every policy on every workload, over the reference. */
  private void overview(Measure measure) {
    List<Group> groups = report.comparison().groups();
    List<String> policies = report.comparison().policies();
    out.append("\n").append(measure.plainTitle()).append(", over that of ");
    out.append(text(report.comparison().reference()));
    out.append(" (✓ better, ✗ worse, ≈ tie, ? unclear):\n\n");
    List<String> head = new ArrayList<>(List.of("workload"));
    policies.forEach(policy -> head.add(text(policy)));
    head(head);
    for (Group group : groups) {
      List<String> cells = new ArrayList<>(List.of(text(group.title())));
      policies.forEach(policy -> cells.add(overview(group, policy, measure)));
      row(cells);
    }
  }

  private String overview(Group group, String policy, Measure measure) {
    if (policy.equals(report.comparison().reference())) {
      return "reference";
    }
    return group.policies().stream()
        .filter(each -> each.policy().equals(policy))
        .map(each -> each.cell(measure).versus())
        .filter(Objects::nonNull)
        .map(versus -> (Shown.ratio(versus) + " " + versus.verdict().sign()).stripTrailing())
        .findFirst()
        .orElse(Shown.ABSENT);
  }

  private void head(List<String> head) {
    row(head);
    out.append("|---").append("|--:".repeat(head.size() - 1)).append("|\n");
  }

  private void table(Group group, List<Measure> measures) {
    if (measures.isEmpty()) {
      return;
    }
    List<String> head = new ArrayList<>(List.of("policy"));
    measures.forEach(measure -> head.add(measure.title()));
    head(head);
    for (PolicySummary policy : group.policies()) {
      List<String> cells = new ArrayList<>(List.of(text(policy.policy())));
      measures.forEach(measure -> cells.add(cell(group, policy, measure)));
      row(cells);
    }
    out.append('\n');
  }

  private String cell(Group group, PolicySummary policy, Measure measure) {
    Cell cell = policy.cell(measure);
    String value = Shown.estimate(measure, cell.value(), policy.seeds().size());
    String marked =
        switch (group.mark(policy, measure)) {
          case "★" -> "**" + value + "**";
          case "≈" -> "≈ " + value;
          default -> value;
        };
    boolean reference = policy.policy().equals(report.comparison().reference());
    return reference || !Double.isFinite(cell.value().mean()) || cell.versus() == null
        ? marked
        : marked + " (" + Shown.ratio(cell.versus()) + ")";
  }

  private void row(List<String> cells) {
    cells.forEach(cell -> out.append("| ").append(cell).append(' '));
    out.append("|\n");
  }

  /** A name as text that Markdown leaves alone, on one line. */
  private static String text(String name) {
    return name.replaceAll("[\\\\`*_\\[\\]<>|#&]", "\\\\$0").replaceAll("\\s+", " ");
  }
}
