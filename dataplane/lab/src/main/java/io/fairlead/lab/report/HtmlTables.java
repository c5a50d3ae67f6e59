package io.fairlead.lab.report;

import io.fairlead.lab.report.Comparison.Group;
import io.fairlead.lab.report.PolicySummary.Cell;
import io.fairlead.lab.report.Versus.Verdict;
import java.util.List;

/** The tables of an HTML report. */
final class HtmlTables {

  private final Markup out;
  private final Comparison comparison;

  HtmlTables(Markup out, Comparison comparison) {
    this.out = out;
    this.comparison = comparison;
  }

  /** One measure of every policy on every workload, over the reference; as narrow as may be. */
  void overview(Measure measure) {
    out.element("h3", measure.plainTitle() + ", over that of " + comparison.reference());
    List<Group> groups = comparison.groups();
    List<String> policies = comparison.policies();
    if (policies.size() > groups.size()) {
      head("policy", groups.stream().map(Group::title).toList());
      for (String policy : policies) {
        out.open("tr").element("th", policy, "scope", "row");
        groups.forEach(group -> overview(group, policy, measure));
        out.closeLine();
      }
    } else {
      head("workload", policies);
      for (Group group : groups) {
        out.open("tr").element("th", group.title(), "scope", "row");
        policies.forEach(policy -> overview(group, policy, measure));
        out.closeLine();
      }
    }
    out.close().close().closeLine();
  }

  private void head(String first, List<String> others) {
    out.open("div", "class", "scroll").open("table", "class", "dense");
    out.open("thead").open("tr").element("th", first, "scope", "col");
    others.forEach(title -> out.element("th", title, "scope", "col"));
    out.close().close().open("tbody");
  }

  private void overview(Group group, String policy, Measure measure) {
    out.open("td");
    group.policies().stream()
        .filter(each -> each.policy().equals(policy))
        .findFirst()
        .ifPresentOrElse(each -> versus(each, each.cell(measure)), () -> out.text(Shown.ABSENT));
    out.close();
  }

  /** Some measures of all policies of one group. */
  void group(Group group, List<Measure> measures) {
    if (measures.isEmpty()) {
      return;
    }
    out.open("div", "class", "scroll").open("table");
    out.open("thead").open("tr").element("th", "policy", "scope", "col");
    for (Measure measure : measures) {
      out.open("th", "scope", "col").text(measure.title());
      out.element("small", measure.better() == Measure.Better.LESS ? "\u00a0↓" : "\u00a0↑").close();
    }
    out.close().close().open("tbody");
    for (PolicySummary policy : group.policies()) {
      out.open("tr").element("th", policy.policy(), "scope", "row");
      for (Measure measure : measures) {
        cell(group, policy, measure);
      }
      out.closeLine();
    }
    out.close().close().closeLine();
  }

  private void cell(Group group, PolicySummary policy, Measure measure) {
    Cell cell = policy.cell(measure);
    String mark = group.mark(policy, measure);
    out.open("td", "class", mark.equals("★") ? "best" : "");
    out.open("span", "class", "value");
    out.element("b", mark.isEmpty() ? "" : mark + " ");
    out.text(Shown.mean(measure, cell.value()));
    String interval =
        Shown.plusMinus(measure, cell.value())
            + Shown.onlySome(cell.value(), policy.seeds().size());
    out.element("small", interval.isEmpty() ? "" : " " + interval).close();
    if (cell.versus() != null) {
      out.open("span", "class", "versus");
      versus(policy, cell);
      out.close();
    }
    out.close();
  }

  private void versus(PolicySummary policy, Cell cell) {
    Versus versus = cell.versus();
    if (policy.policy().equals(comparison.reference())) {
      out.element("span", "reference", "class", "tie");
    } else if (versus == null || versus.verdict() == Verdict.ABSENT) {
      out.text(Shown.ABSENT);
    } else {
      String word = versus.verdict().word();
      out.element("span", Shown.ratio(versus) + " " + versus.verdict().sign(), "class", word);
      out.element("span", " " + word, "class", "aloud");
    }
  }
}
