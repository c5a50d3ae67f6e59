package io.fairlead.epp.telemetry;

import io.fairlead.core.shadow.ShadowSnapshot;
import io.fairlead.epp.shadow.ShadowReport;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Series of shadows, in Prometheus's text format: none where there are no shadows. */
final class ShadowLines {

  private ShadowLines() {}

  static void append(StringBuilder page, List<ShadowReport> shadows) {
    if (shadows.isEmpty()) {
      return;
    }
    family(page, "fairlead_shadow_running", "gauge", "1 while the shadow runs, 0 once it is off.");
    for (ShadowReport shadow : shadows) {
      line(page, "fairlead_shadow_running", shadow, "", shadow.off() == null ? 1 : 0);
    }
    family(
        page,
        "fairlead_shadow_requests_total",
        "counter",
        "Requests by what the shadow would have done with them.");
    for (ShadowReport shadow : shadows) {
      ShadowSnapshot told = shadow.told();
      result(page, shadow, "agreed", told.agreed());
      result(page, shadow, "differed", told.differed());
      result(page, shadow, "not_placed", told.notPlaced());
      result(page, shadow, "left_out", shadow.leftOut());
    }
    family(
        page,
        "fairlead_shadow_prompt_tokens_total",
        "counter",
        "Tokens of the prompts that the shadow placed.");
    for (ShadowReport shadow : shadows) {
      line(
          page,
          "fairlead_shadow_prompt_tokens_total",
          shadow,
          "",
          (double) shadow.told().promptTokens());
    }
    both(
        page,
        "fairlead_shadow_cached_tokens_total",
        "counter",
        "Prompt tokens believed to be cached where the shadow, or the real scheduling, chose, of requests that the shadow placed.",
        shadows,
        choices -> (double) choices.cachedTokens());
    both(
        page,
        "fairlead_shadow_first_token_seconds_total",
        "counter",
        "Time to the first token that is expected of the shadow's choices, or of the real ones for the same requests.",
        shadows,
        ShadowSnapshot.Choices::firstTokenSeconds);
    both(
        page,
        "fairlead_shadow_load_spread",
        "gauge",
        "Most requests in flight at one endpoint, over the mean: 1 is even.",
        shadows,
        ShadowSnapshot.Choices::spread);
    family(
        page, "fairlead_shadow_cpu_seconds_total", "counter", "CPU time of the shadow's thread.");
    for (ShadowReport shadow : shadows) {
      line(page, "fairlead_shadow_cpu_seconds_total", shadow, "", shadow.cpuSeconds());
    }
  }

  private static void both(
      StringBuilder page,
      String name,
      String type,
      String help,
      List<ShadowReport> shadows,
      ToDoubleFunction<ShadowSnapshot.Choices> value) {
    family(page, name, type, help);
    for (ShadowReport shadow : shadows) {
      line(page, name, shadow, ",of=\"shadow\"", value.applyAsDouble(shadow.told().own()));
      line(page, name, shadow, ",of=\"real\"", value.applyAsDouble(shadow.told().real()));
    }
  }

  private static void result(StringBuilder page, ShadowReport shadow, String result, long count) {
    line(
        page,
        "fairlead_shadow_requests_total",
        shadow,
        ",result=\"" + result + "\"",
        (double) count);
  }

  private static void family(StringBuilder page, String name, String type, String help) {
    page.append("# HELP ").append(name).append(' ').append(help).append('\n');
    page.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  private static void line(
      StringBuilder page, String name, ShadowReport shadow, String labels, double value) {
    page.append(name)
        .append("{shadow=\"")
        .append(shadow.name())
        .append('"')
        .append(labels)
        .append("} ")
        .append(value)
        .append('\n');
  }
}
