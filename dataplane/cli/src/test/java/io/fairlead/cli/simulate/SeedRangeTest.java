package io.fairlead.cli.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SeedRangeTest {

  /** Constants were chosen by the seeds 1 to 5: who asks for some seeds asks for others. */
  @ParameterizedTest
  @CsvSource({"1, 6, 6", "5, 6, 10", "1..5, 1, 5", "7..7, 7, 7"})
  void aNumberOfSeedsIsOfThoseThatNothingWasTunedOn(String text, long first, long last) {
    assertThat(SeedRange.parse(text)).isEqualTo(new SeedRange(first, last));
  }
}
