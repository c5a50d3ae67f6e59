package io.fairlead.epp.telemetry;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Our series once more under the names that upstream's pickers give them, for dashboards that were
 * made for those. They are made of a page that is ready: nothing is counted twice. What has more
 * labels here than there keeps them.
 */
final class UpstreamNames {

  /** How a request ended that is no error. */
  private static final Set<String> WELL =
      Set.of("completed", "refused", "invalid", "disconnected", "left");

  private static final Map<String, String> MODEL = Map.of("model", "model_name");

  private static final String OBJECTIVE = "inference_objective_";
  private static final String ROUTER = "llm_d_epp_";
  private static final String EXTENSION = "inference_extension_";

  /**
   * A family of series and where it comes from.
   *
   * @param ours its name on the page
   * @param labels ours to upstream's; one that isn't here keeps its name
   * @param constant a label that upstream has and we don't, with its value; null for none
   * @param which of our lines
   */
  private record Family(
      String name,
      String type,
      String ours,
      Map<String, String> labels,
      @Nullable String constant,
      Predicate<String> which) {

    Family(String name, String type, String ours, Map<String, String> labels) {
      this(name, type, ours, labels, null, line -> true);
    }
  }

  private static final List<Family> FAMILIES =
      List.of(
          new Family(OBJECTIVE + "request_total", "counter", "fairlead_requests_total", MODEL),
          new Family(
              OBJECTIVE + "request_error_total",
              "counter",
              "fairlead_requests_total",
              Map.of("model", "model_name", "outcome", "error_code"),
              null,
              line -> WELL.stream().noneMatch(end -> line.contains("outcome=\"" + end + "\""))),
          histogram(OBJECTIVE + "request_ttft_seconds", "fairlead_time_to_first_token_seconds"),
          histogram(OBJECTIVE + "request_tpot_seconds", "fairlead_time_per_output_token_seconds"),
          histogram(
              OBJECTIVE + "normalized_time_per_output_token_seconds",
              "fairlead_request_duration_per_output_token_seconds"),
          histogram(OBJECTIVE + "request_duration_seconds", "fairlead_request_duration_seconds"),
          histogram(
              ROUTER + "request_streaming_itl_seconds", "fairlead_inter_token_latency_seconds"),
          histogram(OBJECTIVE + "request_sizes", "fairlead_request_body_bytes"),
          histogram(OBJECTIVE + "response_sizes", "fairlead_response_body_bytes"),
          histogram(OBJECTIVE + "input_tokens", "fairlead_request_prompt_size_tokens"),
          histogram(OBJECTIVE + "output_tokens", "fairlead_request_completion_size_tokens"),
          histogram(OBJECTIVE + "prompt_cached_tokens", "fairlead_request_cached_size_tokens"),
          histogram(
              EXTENSION + "scheduler_e2e_duration_seconds", "fairlead_scheduling_latency_seconds"),
          histogram(EXTENSION + "prefix_indexer_hit_ratio", "fairlead_prefix_believed_share"),
          new Family(
              EXTENSION + "scheduler_attempts_total",
              "counter",
              "fairlead_endpoint_sent_total",
              Map.of("endpoint", "pod_name"),
              "status=\"success\"",
              line -> true),
          new Family(
              EXTENSION + "model_rewrite_decisions_total",
              "counter",
              "fairlead_model_rewrites_total",
              Map.of("model", "model_name", "target", "target_model")),
          new Family(
              EXTENSION + "info",
              "gauge",
              "fairlead_build_info",
              Map.of("version", "build_ref"),
              "commit=\"\"",
              line -> true));

  private UpstreamNames() {}

  private static Family histogram(String name, String ours) {
    return new Family(name, "histogram", ours, MODEL);
  }

  /** Adds what the page has so far under upstream's names. */
  static void append(StringBuilder page) {
    List<String> lines = page.toString().lines().filter(line -> !line.startsWith("#")).toList();
    for (Family family : FAMILIES) {
      boolean any = false;
      for (String line : lines) {
        String suffix = suffix(family, line);
        if (suffix != null && family.which().test(line)) {
          if (!any) {
            page.append("# HELP ").append(family.name()).append(" Upstream's name of ");
            page.append(family.ours()).append(".\n");
            page.append("# TYPE ").append(family.name()).append(' ').append(family.type());
            page.append('\n');
            any = true;
          }
          append(page, family, line, suffix);
        }
      }
    }
  }

  /** What follows the family's name on the line, up to labels and value; null of another family. */
  private static @Nullable String suffix(Family family, String line) {
    if (!line.startsWith(family.ours())) {
      return null;
    }
    int end = family.ours().length();
    while (end < line.length() && line.charAt(end) != '{' && line.charAt(end) != ' ') {
      end++;
    }
    String suffix = line.substring(family.ours().length(), end);
    boolean its =
        family.type().equals("histogram")
            ? suffix.equals("_bucket") || suffix.equals("_sum") || suffix.equals("_count")
            : suffix.isEmpty();
    return its ? suffix : null;
  }

  private static void append(StringBuilder page, Family family, String line, String suffix) {
    int from = family.ours().length() + suffix.length();
    // No label's value ends early: quotes in values are escaped.
    String rest = line.substring(from);
    for (Map.Entry<String, String> label : family.labels().entrySet()) {
      rest =
          rest.replace("{" + label.getKey() + "=\"", "{" + label.getValue() + "=\"")
              .replace("," + label.getKey() + "=\"", "," + label.getValue() + "=\"");
    }
    if (family.constant() != null) {
      rest =
          rest.startsWith("{")
              ? "{" + family.constant() + "," + rest.substring(1)
              : "{" + family.constant() + "}" + rest;
    }
    page.append(family.name()).append(suffix).append(rest).append('\n');
  }
}
