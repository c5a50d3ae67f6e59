package io.fairlead.stub.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.stub.engine.EngineProfile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class EngineProfilesTest {

  private static final String ONE =
      """
      engines:
        - name: mine
          source: measured here
          a: 1
          b: 0.01
          c: 1e-7
          d0: 2
          d1: 0.02
          d2: 1e-5
          kvTokens: 1000
          maxBatchedTokens: 512
      """;

  @Test
  void thoseThatShipAreReadFromTheirFile() {
    assertThat(EngineProfiles.shipped().names())
        .containsExactly(
            "h100-8b",
            "h100-8b-fp8",
            "a100-8b",
            "l40s-8b",
            "l4-8b",
            "h100x2-32b",
            "h100x4-70b",
            "h200x8-deepseek-v3");
    assertThat(EngineProfiles.shipped().named("l40s-8b"))
        .isEqualTo(
            new EngineProfile(
                "l40s-8b", 13.5, 0.05996, 3.10e-6, 22.2, 0.0394, 1.85e-4, 190_000, 16, 2_048, 256));
  }

  @Test
  void oneOfOnesOwnStandsBesideThem() {
    EngineProfiles mine = EngineProfiles.read("mine.yaml", ONE + "    apiMillis: 15.6\n");
    EngineProfiles both = EngineProfiles.shipped().with(mine);

    assertThat(both.names()).startsWith("h100-8b").endsWith("mine");
    assertThat(both.named("mine"))
        .isEqualTo(
            new EngineProfile("mine", 1, 0.01, 1e-7, 2, 0.02, 1e-5, 1_000, 16, 512, 256)
                .withApiOverhead(15.6, 0));
    assertThat(both.all()).hasSize(both.names().size());
  }

  @Test
  void aNameIsTakenOnce() {
    EngineProfiles mine = EngineProfiles.read("x", ONE);

    assertThatThrownBy(() -> mine.with(mine))
        .hasMessage("name: there is an engine profile \"mine\" already; choose another name");
    assertThatThrownBy(() -> EngineProfiles.read("x", ONE + ONE.substring(ONE.indexOf('\n') + 1)))
        .hasMessage("x: engines[1].name: \"mine\" is another engine's name already");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a: 1        | a: fast     | x: engines[0].a: is no number",
        "a: 1        | a: -1       | x: engines[0].a: -1.0 is not a finite number >= 0",
        "a: 1        | a: .inf     | x:4: is not valid YAML: Malformed numeric value '.inf'",
        "a: 1        | aa: 1       | x: engines[0].aa: is no field of an engine; known: a, adapterL",
        "a: 1        | b: 1        | x:5: is not valid YAML: Duplicate field 'b'",
        "source:     | # source:   | x: engines[0].source: is missing",
        "name: mine  | name: Mine  | x: engines[0].name: \"Mine\" is not made of a-z, 0-9 and -",
        "name: mine  | name: 7     | x: engines[0].name: is no text",
        "s: 1000     | s: 1e3      | x: engines[0].kvTokens: is no whole number of 32 bits",
        "s: 1000     | s: 7        | x: engines[0].kvTokens: 7 holds no block of 16 tokens",
        "s: 512      | s: 0        | x: engines[0].maxBatchedTokens: 0 is not >= 1",
        "engines:    | motors:     | x: expected one field, engines, with a list",
        "- name      | name        | x:3: is not valid YAML: mapping values are not allowed here"
      })
  void whatIsWrongIsToldWithItsField(String right, String wrong, String message) {
    assertThat(ONE).contains(right);
    assertThatThrownBy(() -> EngineProfiles.read("x", ONE.replaceFirst(right, wrong)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message);
  }

  @ParameterizedTest
  @CsvSource({
    "'engines: {', 'x:1: is not valid YAML: '",
    "'engines: [\t\u0001]', 'x:1: is not valid YAML: '",
    "'engines: \"\\UFFFFFFFF\"', 'x:1: is not valid YAML: '"
  })
  void textThatIsNoYamlIsToldInALine(String text, String message) {
    assertThatThrownBy(() -> EngineProfiles.read("x", text))
        .isInstanceOf(IllegalArgumentException.class)
        .message()
        .startsWith(message)
        .endsWith("; mend it, or quote that value")
        .doesNotContain("\n");
  }

  @ParameterizedTest
  @CsvSource({"''", "'[]'", "'engines: []'", "'engines: [1]'"})
  void whatIsNoListOfEnginesIsRefused(String text) {
    assertThatThrownBy(() -> EngineProfiles.read("x", text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("x: ");
  }
}
