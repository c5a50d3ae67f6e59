package io.fairlead.cli.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Whoever waits is told for how much. */
class AmountTest {

  @Test
  void saysHowManyRunsOfWhatLengthThereAre() {
    assertThat(Amount.of(List.of(600.0, 600.0, 600.0))).isEqualTo("3 runs of 600 s");
    assertThat(Amount.of(List.of(600.0, 20.5))).isEqualTo("2 runs of 21 to 600 s");
    assertThat(Amount.of(List.of(20.0))).isEqualTo("1 run of 20 s");
  }
}
