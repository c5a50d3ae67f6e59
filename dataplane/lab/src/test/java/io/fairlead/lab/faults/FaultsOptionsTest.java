package io.fairlead.lab.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class FaultsOptionsTest {

  private static final String GOOD =
      "--way gateway=run --way extproc=pick --way extproc=proxy --faults refused,slow --rate 50"
          + " --before 3 --during 20 --after 12 --seed 7 --work w --report r.json";

  @Test
  void readsEveryOption() {
    FaultsOptions options = parse(GOOD);

    assertThat(options.ways())
        .isEqualTo(Map.of("gateway", List.of("run"), "extproc", List.of("pick", "proxy")));
    assertThat(options.scenarios()).extracting(Scenario::name).containsExactly("refused", "slow");
    assertThat(options.phases()).isEqualTo(new Scenarios(50, 3, 20, 12));
    assertThat(options.seed()).isEqualTo(7);
    assertThat(options.work()).isEqualTo(Path.of("w"));
    assertThat(options.report()).isEqualTo(Path.of("r.json"));
    assertThat(parse(GOOD.replace("refused,slow", "all")).scenarios()).hasSizeGreaterThan(20);
  }

  @ParameterizedTest
  @CsvSource({
    "'refused,slow', 'refused,broken', '--faults: no \"broken\"; there are all, fail-fast, '",
    "--way gateway=run, --way gateway=, '--way: expected NAME=COMMAND, got gateway='",
    "--rate 50, --rate 0, --rate is 0.0; set more than 0",
    "--during 20, --during long, '--during must be a number, not long'",
    "--seed 7, '', --seed is missing",
    "--seed 7, --seed 7 --speed 8, unknown: [--speed]",
    "r.json, r.json --speed, 'expected --name value, got --speed'",
  })
  void namesWhatIsWrong(String good, String bad, String message) {
    assertThat(GOOD).contains(good);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> parse(GOOD.replace(good, bad)))
        .withMessageContaining(message);
  }

  @Test
  void withoutAWayThereIsNothingToTry() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> parse(GOOD.replaceAll("--way \\S+ ", "")))
        .withMessage("--way is missing");
  }

  private static FaultsOptions parse(String arguments) {
    return FaultsOptions.parse(arguments.strip().split("\\s+", -1));
  }
}
