package io.fairlead.epp.telemetry;

import io.fairlead.epp.external.ExternalCounts;
import io.fairlead.epp.external.ExternalReport;
import java.util.List;
import java.util.Locale;

/**
 * Series of external schedulers, in Prometheus's text format: none where there are none. Those that
 * shadows ask have a label {@code shadow}.
 */
final class ExternalLines {

  private static final String REQUESTS = "fairlead_external_scheduler_requests_total";
  private static final String UP = "fairlead_external_scheduler_up";
  private static final String SECONDS = "fairlead_external_scheduler_answer_seconds";

  private ExternalLines() {}

  static void append(StringBuilder page, List<ExternalReport> reports) {
    if (reports.isEmpty()) {
      return;
    }
    family(page, UP, "gauge", "1 while requests wait for the external scheduler, 0 while not.");
    for (ExternalReport report : reports) {
      line(page, UP, labels(report), report.problem() == null ? 1 : 0);
    }
    family(
        page,
        REQUESTS,
        "counter",
        "Requests, each once, by what came of offering them; as unexpected, answers that nobody"
            + " waited for.");
    for (ExternalReport report : reports) {
      for (ExternalCounts.Result result : ExternalCounts.Result.values()) {
        String name = result.name().toLowerCase(Locale.ROOT);
        line(
            page,
            REQUESTS,
            labels(report) + "result=\"" + name + "\",",
            (double) report.counts().of(result));
      }
    }
    family(page, SECONDS, "summary", "Time until an answer came that was in time.");
    for (ExternalReport report : reports) {
      line(page, SECONDS + "_sum", labels(report), report.counts().answerSeconds());
      line(page, SECONDS + "_count", labels(report), (double) report.counts().answers());
    }
  }

  /** Each with a comma; names of shadows are DNS labels. */
  private static String labels(ExternalReport report) {
    return report.shadow() == null ? "" : "shadow=\"" + report.shadow() + "\",";
  }

  private static void line(StringBuilder page, String name, String labels, double value) {
    page.append(name);
    if (!labels.isEmpty()) {
      page.append('{').append(labels, 0, labels.length() - 1).append('}');
    }
    page.append(' ').append(value).append('\n');
  }

  private static void family(StringBuilder page, String name, String type, String help) {
    page.append("# HELP ").append(name).append(' ').append(help).append('\n');
    page.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }
}
