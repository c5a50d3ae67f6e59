package io.fairlead.lab.report;

import io.fairlead.lab.report.Comparison.Group;
import io.fairlead.lab.statistics.Estimate;

/** The share of prompt tokens that a cache held, a bar per policy with its interval. */
final class HitBars {

  private HitBars() {}

  static void write(Markup out, Group group) {
    out.open("figure").element("figcaption", "Hit rate: prompt tokens found in a cache");
    out.open("div", "class", "scroll").open("table", "class", "bars");
    for (PolicySummary policy : group.policies()) {
      Estimate hits = policy.cell(Measure.HIT_RATE).value();
      out.open("tr").element("th", policy.policy(), "scope", "row").open("td", "class", "bar");
      if (hits.seeds() > 0) {
        bar(out, hits);
      }
      out.close();
      out.element("td", Shown.estimate(Measure.HIT_RATE, hits, policy.seeds().size()));
      out.closeLine();
    }
    out.close().close().closeLine();
  }

  private static void bar(Markup out, Estimate hits) {
    out.open("svg", "viewBox", "0 0 100 10", "preserveAspectRatio", "none", "aria-hidden", "true");
    out.empty("path", "class", "track", "d", "M0 0H100V10H0z");
    out.empty("path", "class", "f0", "d", "M0 0H" + Drawn.number(100 * hits.mean()) + "V10H0z");
    if (Double.isFinite(hits.halfWidth())) {
      double low = 100 * Math.max(0, hits.mean() - hits.halfWidth());
      double high = 100 * Math.min(1, hits.mean() + hits.halfWidth());
      out.empty(
          "path",
          "class",
          "whisker",
          "d",
          "M"
              + Drawn.number(low)
              + " 2V8M"
              + Drawn.number(low)
              + " 5H"
              + Drawn.number(high)
              + "M"
              + Drawn.number(high)
              + " 2V8");
    }
    out.close();
  }
}
