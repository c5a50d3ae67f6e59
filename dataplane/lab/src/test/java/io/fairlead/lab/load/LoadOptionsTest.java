package io.fairlead.lab.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fairlead.lab.Way;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class LoadOptionsTest {

  private static final String GOOD =
      "--baseline alone,http://a,envoy=1 --subject with,http://b,envoy=2,picker=3 --picks http://c/metrics"
          + " --model m --requests 10 --rate 2.5 --rounds 3 --warmup 0 --seed 7 --report r.json";

  @Test
  void readsEveryOption() {
    assertThat(parse(GOOD))
        .isEqualTo(
            new LoadOptions(
                new Way("alone", URI.create("http://a"), Map.of("envoy", 1L)),
                new Way("with", URI.create("http://b"), Map.of("envoy", 2L, "picker", 3L)),
                URI.create("http://c/metrics"),
                "m",
                10,
                2.5,
                3,
                0,
                7,
                Path.of("r.json")));
  }

  @Test
  void roundsSumToAllRequests() {
    LoadOptions options = parse(GOOD);

    assertThat(new int[] {options.inRound(0), options.inRound(1), options.inRound(2)})
        .containsExactly(3, 3, 4);
  }

  @ParameterizedTest
  @CsvSource({
    "--model m, '', --model is missing",
    "--rate 2.5, --rate fast, '--rate must be a number, not fast'",
    "--requests 10, --requests 1e4, '--requests must be a whole number, not 1e4'",
    "--requests 10, --requests 2, --rounds must be at least 1",
    "--rounds 3, --rounds 0, --rounds must be at least 1",
    "--warmup 0, --warmup -1, --rounds must be at least 1",
    "--rate 2.5, --rate 0, above 0",
    "--rate 2.5, --rate NaN, above 0",
    "--seed 7, --seed 7 --speed 8, unknown: [--speed]",
    "r.json, r.json --speed, 'expected --name value, got --speed'",
    "'alone,http://a,envoy=1', alone, 'expected NAME,URL,PROCESS=PID..., got alone'",
    "'envoy=1', envoy, 'expected PROCESS=PID, got envoy'",
    "'envoy=1', envoy=x, 'expected PROCESS=PID, got envoy=x'",
  })
  void namesWhatIsWrong(String good, String bad, String message) {
    assertThat(GOOD).contains(good);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> parse(GOOD.replace(good, bad)))
        .withMessageContaining(message);
  }

  private static LoadOptions parse(String arguments) {
    return LoadOptions.parse(arguments.trim().split("\\s+", -1));
  }
}
