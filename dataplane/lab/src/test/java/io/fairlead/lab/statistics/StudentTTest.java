package io.fairlead.lab.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class StudentTTest {

  /** From the usual printed tables, and the normal distribution at the end. */
  @ParameterizedTest
  @CsvSource({
    "0.95, 1, 12.7062",
    "0.95, 2, 4.3027",
    "0.95, 3, 3.1824",
    "0.95, 4, 2.7764",
    "0.95, 5, 2.5706",
    "0.95, 9, 2.2622",
    "0.95, 10, 2.2281",
    "0.95, 30, 2.0423",
    "0.95, 120, 1.9799",
    "0.95, 1000000, 1.9600",
    "0.99, 1, 63.6567",
    "0.99, 4, 4.6041",
    "0.90, 7, 1.8946",
    "0.50, 2, 0.8165",
  })
  void agreesWithPrintedTables(double confidence, int degrees, double bound) {
    assertThat(StudentT.bound(confidence, degrees)).isCloseTo(bound, Offset.offset(1e-4));
  }

  @Test
  void refusesWhatHasNoAnswer() {
    assertThatIllegalArgumentException().isThrownBy(() -> StudentT.bound(0.95, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> StudentT.bound(1, 4));
    assertThatIllegalArgumentException().isThrownBy(() -> StudentT.bound(Double.NaN, 4));
  }
}
