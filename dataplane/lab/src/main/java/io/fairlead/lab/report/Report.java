package io.fairlead.lab.report;

import io.fairlead.lab.simulator.RunResult;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs and what comes of comparing them, for people and for programs. The same report gives the
 * same bytes.
 *
 * @param title heading
 * @param command the command line that made it
 * @param parameters what else is needed to make it again, in this order
 * @param runs of all workloads, policies and seeds; the order of first mention is kept
 * @param comparison of those runs
 */
public record Report(
    String title,
    String command,
    Map<String, String> parameters,
    List<RunResult> runs,
    Comparison comparison) {

  public Report {
    parameters = Collections.unmodifiableMap(new LinkedHashMap<>(parameters));
    runs = List.copyOf(runs);
  }

  /**
   * A report on these runs.
   *
   * @param reference the policy that ratios are over
   * @throws IllegalArgumentException as {@link Comparison#of} does
   */
  public static Report of(
      String title,
      String command,
      Map<String, String> parameters,
      List<RunResult> runs,
      String reference) {
    return new Report(title, command, parameters, runs, Comparison.of(runs, reference));
  }

  /**
   * The runs of a report that was written as {@link #json} before, e.g. to report on several
   * together.
   *
   * @throws IOException that names what is wrong
   */
  public static List<RunResult> readRuns(Reader json) throws IOException {
    return JsonReport.runs(json);
  }

  /** One page with tables and plots, which loads nothing. */
  public String html() {
    return new HtmlReport(this).html();
  }

  /** The tables. */
  public String markdown() {
    return new MarkdownReport(this).markdown();
  }

  /**
   * The comparison and all that the runs have shown. A value that isn't there is null, one beyond
   * all bounds the string {@code "Infinity"}: the mean of a flow that was served nothing.
   *
   * @param out stays open
   */
  public void json(Writer out) throws IOException {
    JsonReport.write(this, out);
  }
}
