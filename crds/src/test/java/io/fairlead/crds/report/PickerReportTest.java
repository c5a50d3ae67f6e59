package io.fairlead.crds.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.ConfigHash;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PickerReportTest {
  private static final ConfigHash RUNNING = ConfigHash.of("running");
  private static final ConfigHash REFUSED = ConfigHash.of("refused");

  @Test
  void survivesTheWayThroughJson() {
    var report =
        new PickerReport(
            "ns/pool",
            RUNNING,
            3,
            new PickerReport.Refused(REFUSED, "config.yaml: models[0].name is missing"),
            new PickerReport.Endpoints(4, 2, null));

    assertThat(PickerReport.fromJson(report.toJson())).contains(report);
    assertThat(report.toJson())
        .isEqualTo(
            "{\"pool\":\"ns/pool\",\"configHash\":\""
                + RUNNING
                + "\",\"generation\":3,\"refused\":{\"hash\":\""
                + REFUSED
                + "\",\"message\":\"config.yaml: models[0].name is missing\"},\"endpoints\":"
                + "{\"matching\":4,\"ready\":2}}");
  }

  @Test
  void tellsSinceWhenThereIsNoRoom() {
    var report =
        new PickerReport(
            null, null, 0, null, new PickerReport.Endpoints(2, 2, null), "2026-01-01T00:00:00Z");

    assertThat(PickerReport.fromJson(report.toJson())).contains(report);
    assertThat(report.toJson())
        .isEqualTo(
            "{\"generation\":0,\"endpoints\":{\"matching\":2,\"ready\":2},"
                + "\"saturatedSince\":\"2026-01-01T00:00:00Z\"}");
  }

  @Test
  void namesTheEndpointsThatAreOut() {
    var report =
        new PickerReport(
            null,
            null,
            0,
            null,
            new PickerReport.Endpoints(
                4,
                3,
                null,
                1,
                List.of(
                    new PickerReport.Out("bad", "refuses connections", "2026-01-01T00:00:00Z"))));

    assertThat(PickerReport.fromJson(report.toJson())).contains(report);
    assertThat(report.toJson())
        .isEqualTo(
            "{\"generation\":0,\"endpoints\":{\"matching\":4,\"ready\":3,\"outCount\":1,\"out\":"
                + "[{\"name\":\"bad\",\"reason\":\"refuses connections\","
                + "\"since\":\"2026-01-01T00:00:00Z\"}]}}");
  }

  @Test
  void tellsOfTargets() {
    var report =
        new PickerReport(
            null,
            null,
            0,
            null,
            new PickerReport.Endpoints(2, 2, null),
            null,
            List.of(),
            List.of(),
            new PickerReport.Targets(
                List.of("chat-v1"),
                List.of("sum-v1"),
                List.of(new PickerReport.NotServed("chat-v3", 2))));

    assertThat(PickerReport.fromJson(report.toJson())).contains(report);
    assertThat(report.toJson())
        .isEqualTo(
            "{\"generation\":0,\"endpoints\":{\"matching\":2,\"ready\":2},\"targets\":"
                + "{\"served\":[\"chat-v1\"],\"servedEarlier\":[\"sum-v1\"],"
                + "\"notServed\":[{\"name\":\"chat-v3\",\"endpoints\":2}]}}");
  }

  /** Else the picker would write anew what says the same. */
  @Test
  void ofNoTargetsNothingIsTold() {
    var told =
        new PickerReport(
            null,
            null,
            0,
            null,
            new PickerReport.Endpoints(0, 0, null),
            null,
            List.of(),
            List.of(),
            PickerReport.Targets.NONE);
    assertThat(told).isEqualTo(PickerReport.EMPTY);
    assertThat(PickerReport.fromJson("{\"targets\":{}}")).contains(PickerReport.EMPTY);
  }

  @Test
  void readsWhatANewerPickerAdds() {
    assertThat(PickerReport.fromJson("{\"configHash\":\"" + RUNNING + "\",\"later\":[1]}"))
        .contains(new PickerReport(null, RUNNING, 0, null, new PickerReport.Endpoints(0, 0, null)));
    assertThat(
            PickerReport.fromJson(
                "{\"configHash\":\"" + RUNNING + "\",\"endpoints\":{\"reason\":\"Asleep\"}}"))
        .contains(
            new PickerReport(null, RUNNING, 0, null, new PickerReport.Endpoints(0, 0, "Asleep")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "null", "[]", "{", "\"text\"", "{\"generation\":\"many\"}"})
  void anythingElseIsNoReport(String text) {
    assertThat(PickerReport.fromJson(text)).isEmpty();
    assertThat(PickerReport.read(text).problem()).isNotBlank();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"generation":-1}                          | generation is negative: -1
          {"configHash":"abc"}                       | configHash: is no hash of a config, which has 64 digits: abc
          {"refused":{"hash":"h","message":"m"}}     | refused.hash: is no hash of a config, which has 64 digits: h
          {"refused":{"message":null}}               | refused: message is missing
          {"endpoints":{"matching":-1}}              | endpoints: matching is negative: -1
          {"endpoints":{"matching":1,"ready":-2}}    | endpoints: ready is negative: -2
          {"endpoints":{"outCount":-1}}             | endpoints: outCount is negative: -1
          {"endpoints":{"out":[{"name":"a"}]}}    | endpoints.out[0]: reason is missing
          {"targets":{"notServed":[{}]}}          | targets.notServed[0]: name is missing
          """)
  void whatNoPickerCanMeanIsNoReport(String text, String problem) {
    assertThat(PickerReport.fromJson(text)).isEmpty();
    assertThat(PickerReport.read(text)).isEqualTo(new PickerReport.Reading(null, problem));
  }
}
