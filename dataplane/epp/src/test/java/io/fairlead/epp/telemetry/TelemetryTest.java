package io.fairlead.epp.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.Outcome;
import io.fairlead.core.Rejection;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TelemetryTest {

  private static final Route ROUTE =
      new Route("target", Criticality.STANDARD, "e", "10.0.0.1", 8000, 0, 1);

  private final Telemetry telemetry = new Telemetry(() -> 0);

  @Test
  void tokensAreCountedByModelAndUnknownOnesAreNot() {
    telemetry.models(pool());

    ended("chat", new Usage(11, 7, 5));
    ended("chat", new Usage(4, 2, -1));
    ended("chat", Usage.UNKNOWN);
    ended("made up", new Usage(1, -1, 0));

    assertThat(
            telemetry
                .registry()
                .scrape()
                .lines()
                .filter(line -> line.contains("request") && line.contains("_tokens_total{")))
        .containsExactlyInAnyOrder(
            "fairlead_request_prompt_tokens_total{model=\"chat\"} 15.0",
            "fairlead_request_completion_tokens_total{model=\"chat\"} 9.0",
            "fairlead_request_cached_tokens_total{model=\"chat\"} 5.0",
            "fairlead_request_prompt_tokens_total{model=\"unknown\"} 1.0",
            "fairlead_request_completion_tokens_total{model=\"unknown\"} 0.0",
            "fairlead_request_cached_tokens_total{model=\"unknown\"} 0.0");
  }

  @Test
  void thePrefixIndexIsMeasuredByWhatServersReport() {
    ended("chat", new Usage(200, 1, 96), 200, 64);
    ended("chat", new Usage(200, 1, 0), 200, 160);
    ended("chat", new Usage(200, 1, -1), 200, 128);
    ended("chat", new Usage(-1, 1, 7), 200, 128);

    assertThat(telemetry.registry().scrape().lines().filter(line -> line.contains("_prefix_")))
        .contains(
            "fairlead_prefix_expected_cached_tokens_total{model=\"unknown\"} 224.0",
            "fairlead_prefix_actual_cached_tokens_total{model=\"unknown\"} 96.0",
            "fairlead_prefix_error_tokens_bucket{model=\"unknown\",le=\"16.0\"} 0",
            "fairlead_prefix_error_tokens_bucket{model=\"unknown\",le=\"64.0\"} 1",
            "fairlead_prefix_error_tokens_bucket{model=\"unknown\",le=\"256.0\"} 2",
            "fairlead_prefix_error_tokens_count{model=\"unknown\"} 2",
            "fairlead_prefix_error_tokens_sum{model=\"unknown\"} 192.0");
  }

  @Test
  void aServersTokensAreComparedWithAsManyOfItsOwn() {
    telemetry.models(pool());
    // Half of the prompt was believed to be cached, and half of it was.
    ended("chat", new Usage(300, 1, 150), 200, 100);
    // No part of it is known, so none is believed.
    ended("chat", new Usage(300, 1, 30), 0, 0);

    assertThat(telemetry.registry().scrape().lines().filter(line -> line.contains("_prefix_")))
        .contains(
            "fairlead_prefix_expected_cached_tokens_total{model=\"chat\"} 150.0",
            "fairlead_prefix_actual_cached_tokens_total{model=\"chat\"} 180.0",
            "fairlead_prefix_error_tokens_count{model=\"chat\"} 2",
            "fairlead_prefix_error_tokens_sum{model=\"chat\"} 30.0");
  }

  @Test
  void aCallThatNamesNoModelIsNoRequestToOne() {
    telemetry.sent("", ROUTE);
    telemetry.firstToken("", ROUTE, 1);
    ended("", new Usage(10, 4, 5));
    telemetry.rejected(
        "",
        new Rejection(
            Rejection.Reason.NO_READY_ENDPOINTS, Criticality.STANDARD, "nobody is there"));

    assertThat(telemetry.registry().scrape()).doesNotContain("model=");
    assertThat(telemetry.latencies()).isEmpty();
  }

  private static PoolConfig pool() {
    return new PoolConfig(
        "n",
        "p",
        Map.of(),
        List.of(1),
        "http",
        List.of(new ModelConfig("chat", Criticality.STANDARD, List.of())),
        SchedulerConfig.DEFAULT);
  }

  private void ended(String model, Usage usage, int expectedPrompt, int expectedCached) {
    Route route =
        new Route(
            "target",
            Criticality.STANDARD,
            "e",
            "10.0.0.1",
            8000,
            0,
            expectedPrompt,
            expectedCached,
            1,
            List.of(),
            List.of(),
            List.of());
    telemetry.ended(model, route, Outcome.COMPLETED, usage, 1);
  }

  private void ended(String model, Usage usage) {
    telemetry.ended(model, ROUTE, Outcome.COMPLETED, usage, 1);
  }
}
