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
import io.fairlead.epp.director.PassedAnswer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TelemetryTest {

  private static final Route ROUTE =
      new Route("target", Criticality.STANDARD, "e", "10.0.0.1", 8000, 0, 1);

  private final AtomicLong now = new AtomicLong();
  private final Telemetry telemetry = new Telemetry(now::get);

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
    telemetry.models(pool());
    ended("chat", new Usage(200, 1, 96), 200, 64);
    ended("chat", new Usage(200, 1, 0), 200, 160);
    ended("chat", new Usage(200, 1, -1), 200, 128);
    ended("chat", new Usage(-1, 1, 7), 200, 128);

    assertThat(telemetry.registry().scrape().lines().filter(line -> line.contains("_prefix_")))
        .contains(
            "fairlead_prefix_expected_cached_tokens_total{model=\"chat\"} 224.0",
            "fairlead_prefix_actual_cached_tokens_total{model=\"chat\"} 96.0",
            // 0.32 believed and 0.48 there, 0.8 believed and none there.
            "fairlead_prefix_share_error_bucket{model=\"chat\",le=\"0.1\"} 0",
            "fairlead_prefix_share_error_bucket{model=\"chat\",le=\"0.2\"} 1",
            "fairlead_prefix_share_error_bucket{model=\"chat\",le=\"0.8\"} 2",
            "fairlead_prefix_share_error_count{model=\"chat\"} 2");
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
            "fairlead_prefix_share_error_count{model=\"chat\"} 2",
            "fairlead_prefix_share_error_bucket{model=\"chat\",le=\"0.05\"} 1");
  }

  @Test
  void requestsAreMeasuredByTheirBodiesTokensAndPace() {
    telemetry.models(pool());
    telemetry.arrived("chat", 1_000);
    telemetry.sent("chat", ROUTE);
    telemetry.paced("chat", 20e6);
    telemetry.spread("chat", 500e6);
    telemetry.ended("chat", ROUTE, Outcome.COMPLETED, new Usage(100, 4, 0), 2_000_000_000L);
    telemetry.ended("chat", ROUTE, Outcome.FAILED, new Usage(-1, 4, -1), 2_000_000_000L);

    assertThat(telemetry.registry().scrape().lines())
        .contains(
            "fairlead_request_body_bytes_sum{model=\"chat\"} 1000.0",
            "fairlead_request_prompt_size_tokens_bucket{model=\"chat\",le=\"64.0\"} 0",
            "fairlead_request_prompt_size_tokens_bucket{model=\"chat\",le=\"256.0\"} 1",
            "fairlead_request_completion_size_tokens_count{model=\"chat\"} 2",
            "fairlead_request_cached_size_tokens_count{model=\"chat\"} 1",
            "fairlead_time_per_output_token_seconds_sum{model=\"chat\"} 0.02",
            "fairlead_request_duration_per_output_token_seconds_sum{model=\"chat\"} 0.5",
            "fairlead_model_rewrites_total{model=\"chat\",target=\"target\"} 1.0");
  }

  @Test
  void answersAreMeasuredByTheirBytesAndTheTimesBetweenTheirEvents() {
    telemetry.models(pool());
    for (int i = 0; i < 2; i++) {
      PassedAnswer answer = new PassedAnswer();
      answer.passed(2_000);
      answer.eventsAt(0, 1);
      answer.eventsAt(15_000_000, 3);
      telemetry.answered("chat", answer);
    }
    PassedAnswer whole = new PassedAnswer();
    whole.passed(100);
    telemetry.answered("chat", whole);

    assertThat(telemetry.registry().scrape().lines())
        .contains(
            "fairlead_response_body_bytes_count{model=\"chat\"} 3",
            "fairlead_response_body_bytes_sum{model=\"chat\"} 4100.0",
            "# TYPE fairlead_inter_token_latency_seconds histogram",
            "fairlead_inter_token_latency_seconds_bucket{model=\"chat\",le=\"0.001\"} 2",
            "fairlead_inter_token_latency_seconds_bucket{model=\"chat\",le=\"0.01\"} 2",
            "fairlead_inter_token_latency_seconds_bucket{model=\"chat\",le=\"0.02\"} 4",
            "fairlead_inter_token_latency_seconds_bucket{model=\"chat\",le=\"+Inf\"} 4",
            "fairlead_inter_token_latency_seconds_count{model=\"chat\"} 4",
            "fairlead_inter_token_latency_seconds_sum{model=\"chat\"} 0.03");
  }

  @Test
  void clientsMakeNoSeries() {
    telemetry.models(pool());
    request("chat");
    request("made up");
    long before = telemetry.registry().scrape().lines().count();
    for (int i = 0; i < 10_000; i++) {
      request("made up " + i);
    }
    assertThat(telemetry.registry().scrape().lines().count()).isEqualTo(before);
    assertThat(telemetry.registry().scrape())
        .contains("fairlead_requests_total{criticality=\"standard\",model=\"unknown\"")
        .doesNotContain("made up", "target=\"made");
  }

  /** Whoever names no models in the config wants to tell them apart all the same. */
  @Test
  void whereTheConfigNamesNoModelOneThatAServerServesCountsByItsName() {
    request("served");
    request("served");
    telemetry.arrived("refused", 10);
    telemetry.ended("refused", ROUTE, Outcome.REFUSED, Usage.UNKNOWN, 1);

    assertThat(telemetry.registry().scrape())
        .contains("fairlead_request_prompt_tokens_total{model=\"served\"} 20.0")
        .doesNotContain("model=\"refused\"");
  }

  /** Some servers answer whatever the model is called. */
  @Test
  void whereTheConfigNamesNoModelClientsMakeFewSeriesAllTheSame() {
    for (int i = 0; i < 20; i++) {
      request("made up " + i);
    }
    request("one too many");
    long before = telemetry.registry().scrape().lines().count();
    for (int i = 0; i < 1_000; i++) {
      request("another " + i);
    }
    assertThat(telemetry.registry().scrape().lines().count()).isEqualTo(before);
  }

  @Test
  void aNameThatNobodyHasAskedForInAnHourMakesRoomForAnother() {
    for (int i = 0; i < 20; i++) {
      request("made up " + i);
    }
    request("real");
    assertThat(telemetry.registry().scrape()).doesNotContain("model=\"real\"");
    now.set(TimeUnit.MINUTES.toNanos(59));
    request("made up 7");
    request("real");
    assertThat(telemetry.registry().scrape()).doesNotContain("model=\"real\"");
    long before = telemetry.registry().scrape().lines().count();

    now.set(TimeUnit.MINUTES.toNanos(60));
    request("real");
    for (int i = 0; i < 100; i++) {
      request("another " + i % 18);
    }
    request("one too many");

    assertThat(telemetry.registry().scrape().lines().count()).isEqualTo(before);
    assertThat(telemetry.registry().scrape())
        .contains("model=\"real\"", "model=\"made up 7\"", "model=\"another 17\"")
        .doesNotContain("model=\"made up 1\"", "model=\"one too many\"");
  }

  @Test
  void aNameThatIsTooLongForALabelOrNoTextMakesNoSeries() {
    request("long".repeat(65));
    request("half of a pair \ud83d");

    assertThat(telemetry.registry().scrape()).doesNotContain("longlong", "half of a pair");
  }

  /** One of each kind of event. */
  private void request(String model) {
    Route route = new Route(model + "!", Criticality.STANDARD, "e", "10.0.0.1", 8000, 0, 1);
    telemetry.arrived(model, 10);
    telemetry.sent(model, route);
    telemetry.sentAgain(model, route, null);
    telemetry.firstToken(model, route, 1);
    telemetry.paced(model, 1);
    telemetry.spread(model, 1);
    telemetry.answered(model, new PassedAnswer());
    telemetry.ended(model, route, Outcome.COMPLETED, new Usage(10, 4, 5), 1);
    telemetry.left(model, route);
    telemetry.rejected(
        model, new Rejection(Rejection.Reason.SATURATED, Criticality.STANDARD, "full"));
    telemetry.refused("ext_proc", "invalid_json");
    telemetry.timeoutHeaderIgnored("untrusted");
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
