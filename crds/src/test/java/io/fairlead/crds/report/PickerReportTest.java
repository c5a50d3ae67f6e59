package io.fairlead.crds.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PickerReportTest {

  @Test
  void survivesTheWayThroughJson() {
    var report =
        new PickerReport(
            "ns/pool",
            "abc",
            3,
            new PickerReport.Refused("def", "config.yaml: models[0].name is missing"),
            new PickerReport.Endpoints(4, 2, null));

    assertThat(PickerReport.fromJson(report.toJson())).contains(report);
    assertThat(report.toJson())
        .isEqualTo(
            "{\"pool\":\"ns/pool\",\"configHash\":\"abc\",\"generation\":3,\"refused\":{\"hash\":"
                + "\"def\",\"message\":\"config.yaml: models[0].name is missing\"},\"endpoints\":"
                + "{\"matching\":4,\"ready\":2}}");
  }

  @Test
  void readsWhatANewerPickerAdds() {
    assertThat(PickerReport.fromJson("{\"configHash\":\"x\",\"later\":[1]}"))
        .contains(new PickerReport(null, "x", 0, null, new PickerReport.Endpoints(0, 0, null)));
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
          {"refused":{"message":"m"}}                | refused: hash is missing
          {"refused":{"hash":"h","message":null}}    | refused: message is missing
          {"endpoints":{"matching":-1}}              | endpoints: matching is negative: -1
          {"endpoints":{"matching":1,"ready":-2}}    | endpoints: ready is negative: -2
          {"endpoints":{"reason":"Tired"}}           | endpoints: reason is none of NoMatchingPods, NoReadyPods, PortNotServed: Tired
          """)
  void whatNoPickerCanMeanIsNoReport(String text, String problem) {
    assertThat(PickerReport.fromJson(text)).isEmpty();
    assertThat(PickerReport.read(text)).isEqualTo(new PickerReport.Reading(null, problem));
  }
}
