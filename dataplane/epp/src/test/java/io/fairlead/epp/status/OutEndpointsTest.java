package io.fairlead.epp.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.EndpointSnapshot;
import io.fairlead.core.EndpointSnapshot.Health;
import io.fairlead.core.HealthState;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.report.PickerReport.Out;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class OutEndpointsTest {

  private static final long SECOND = 1_000_000_000;

  /** The pool's clock began a second ago. */
  private final OutEndpoints out =
      new OutEndpoints(Instant.parse("2026-01-01T12:00:00.9Z"), 100 * SECOND);

  @Test
  void whoIsOutIsToldWithReasonAndTime() {
    out.look(
        List.of(
            endpoint("good", HealthState.IN_USE, "", 0),
            endpoint("bad", HealthState.OUT, "refuses connections", 107 * SECOND)),
        110 * SECOND);
    assertThat(out.among(Map.of("good", "good", "bad", "bad")))
        .containsExactly(new Out("bad", "refuses connections", "2026-01-01T12:00:07Z"));
    assertThat(out.among(Map.of("bad", "default/bad:8000")))
        .as("named as people find it")
        .extracting(Out::name)
        .containsExactly("default/bad:8000");
    assertThat(out.among(Map.of("good", "good"))).as("bad has left").isEmpty();
  }

  /** As it is some time after a machine's start, and after it has slept. */
  @Test
  void timesAreThoseOfTheMachinesClockAlsoOnceThatIsSet() {
    assertThat(out.moment(103 * SECOND)).isEqualTo("2026-01-01T12:00:03Z");
    out.time(Instant.parse("2026-01-01T12:00:12.0Z"), 110 * SECOND);
    assertThat(out.moment(103 * SECOND)).as("it drifts").isEqualTo("2026-01-01T12:00:03Z");
    out.time(Instant.parse("2026-01-01T11:00:20.0Z"), 120 * SECOND);
    assertThat(out.moment(120 * SECOND)).as("an hour back").isEqualTo("2026-01-01T11:00:20Z");
    assertThat(out.moment(103 * SECOND)).isEqualTo("2026-01-01T11:00:03Z");
    out.time(Instant.parse("2026-01-02T11:00:30.0Z"), 130 * SECOND);
    assertThat(out.moment(130 * SECOND)).as("a day on").isEqualTo("2026-01-02T11:00:30Z");
  }

  @Test
  void oneThatIsTriedNowAndThenIsOutAllTheWhile() {
    out.look(List.of(endpoint("e", HealthState.OUT, "answers with errors", 101 * SECOND)), 0);
    List<Out> first = out.among(Map.of("e", "e"));
    out.look(
        List.of(endpoint("e", HealthState.ON_TRIAL, "answered a probe", 102 * SECOND)),
        103 * SECOND);
    assertThat(out.among(Map.of("e", "e"))).isEqualTo(first);
    out.look(List.of(endpoint("e", HealthState.OUT, "refuses connections", 104 * SECOND)), 0);
    assertThat(out.among(Map.of("e", "e")))
        .containsExactly(new Out("e", "refuses connections", first.getFirst().since()));

    out.look(List.of(endpoint("e", HealthState.IN_USE, "answers again", 105 * SECOND)), 0);
    assertThat(out.among(Map.of("e", "e"))).isEmpty();
    out.look(List.of(endpoint("e", HealthState.OUT, "refuses connections", 106 * SECOND)), 0);
    assertThat(out.among(Map.of("e", "e")).getFirst().since()).isEqualTo("2026-01-01T12:00:06Z");
  }

  @Test
  void oneThatNobodySendsRequestsStaysOutForAShortTrialOnly() {
    out.look(List.of(endpoint("e", HealthState.OUT, "refuses connections", 101 * SECOND)), 0);
    EndpointSnapshot onTrial = endpoint("e", HealthState.ON_TRIAL, "answered", 102 * SECOND);
    out.look(List.of(onTrial), 106 * SECOND);
    assertThat(out.among(Map.of("e", "e"))).hasSize(1);
    out.look(List.of(onTrial), 107 * SECOND);
    assertThat(out.among(Map.of("e", "e"))).isEmpty();
  }

  @Test
  void remembersWhoEverAnsweredAScrape() {
    EndpointSnapshot silent = endpoint("silent", HealthState.OUT, "refuses connections", 0);
    out.look(List.of(silent, endpoint("scraped", HealthState.IN_USE, "", 0)), 0);
    assertThat(out.anyAnswered(Set.of("silent"))).isFalse();
    assertThat(out.anyAnswered(Set.of("silent", "scraped"))).isTrue();
    out.look(List.of(silent), 0);
    assertThat(out.anyAnswered(Set.of("silent", "scraped"))).as("it has left").isFalse();
  }

  @Test
  void aReportNamesTenAndCountsAll() {
    List<Out> all =
        Stream.iterate(1, i -> i + 1).limit(12).map(i -> new Out("e" + i, "is slow", "T")).toList();
    PickerStatus status = new PickerStatus();
    status.endpoints(20, 15, null, all);
    assertThat(status.current().endpoints())
        .isEqualTo(new PickerReport.Endpoints(20, 3, null, 12, all.subList(0, 10)));
  }

  private static EndpointSnapshot endpoint(
      String name, HealthState state, String reason, long since) {
    return new EndpointSnapshot(
        name,
        0,
        0,
        0,
        Double.NaN,
        0,
        0,
        0,
        false,
        new Health(state, reason, since, 0),
        name.equals("scraped") ? 1 : Long.MIN_VALUE);
  }
}
