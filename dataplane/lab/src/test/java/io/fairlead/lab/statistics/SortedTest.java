package io.fairlead.lab.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class SortedTest {

  @Test
  void theMedianIsInTheMiddle() {
    assertThat(Sorted.of(9, 1, 4).median()).isEqualTo(4);
    assertThat(Sorted.of(9, 1, 4, 2).median()).isEqualTo(3);
  }

  @Test
  void aQuantileIsOneOfThem() {
    Sorted sorted = Sorted.of(40, 10, 30, 20);

    assertThat(sorted.quantile(0.5)).isEqualTo(20);
    assertThat(sorted.quantile(0.51)).isEqualTo(30);
    assertThat(sorted.quantile(1)).isEqualTo(40);
    assertThat(Sorted.of().quantile(0.5)).isNaN();
  }
}
