package io.fairlead.epp.telemetry;

import io.fairlead.epp.external.ExternalCounts;
import io.fairlead.epp.external.ExternalReport;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Series of an external scheduler, in Prometheus's text format: none where there is none. */
final class ExternalLines {

  private static final String REQUESTS = "fairlead_external_scheduler_requests_total";
  private static final String UP = "fairlead_external_scheduler_up";
  private static final String SECONDS = "fairlead_external_scheduler_answer_seconds";

  private ExternalLines() {}

  static void append(StringBuilder page, @Nullable ExternalReport report) {
    if (report == null) {
      return;
    }
    family(page, UP, "gauge", "1 while requests wait for the external scheduler, 0 while not.");
    page.append(UP).append(report.problem() == null ? " 1.0\n" : " 0.0\n");
    family(page, REQUESTS, "counter", "Requests, and answers, by what came of asking.");
    for (ExternalCounts.Result result : ExternalCounts.Result.values()) {
      page.append(REQUESTS)
          .append("{result=\"")
          .append(result.name().toLowerCase(Locale.ROOT))
          .append("\"} ")
          .append((double) report.counts().of(result))
          .append('\n');
    }
    family(page, SECONDS, "summary", "Time until an answer came that was in time.");
    page.append(SECONDS).append("_sum ").append(report.counts().answerSeconds()).append('\n');
    page.append(SECONDS).append("_count ").append((double) report.counts().answers()).append('\n');
  }

  private static void family(StringBuilder page, String name, String type, String help) {
    page.append("# HELP ").append(name).append(' ').append(help).append('\n');
    page.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }
}
