package io.fairlead.lab.faults;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class SendsTest {

  private final Sends sends = new Sends(2);

  @Test
  void countsWhatCameSinceTheFirstLook() {
    sends.look(0.1, new long[] {10, 20});
    sends.look(0.9, new long[] {13, 20});
    sends.look(1.9, new long[] {14, 26});

    assertThat(sends.between(0, 0, 2)).isEqualTo(4);
    assertThat(sends.between(0, 1, 2)).isEqualTo(1);
    assertThat(sends.between(1, 1, 2)).isEqualTo(6);
    assertThat(sends.perSecond(0, 2)).containsExactly(3L, 1L);
    assertThat(sends.perSecond(1, 2)).containsExactly(0L, 6L);
  }

  @Test
  void aCounterThatGoesBackHasBegunAgain() {
    sends.look(0, new long[] {10, 0});
    sends.look(1, new long[] {12, 0});
    sends.look(2, new long[] {3, 0});

    assertThat(sends.between(0, 0, 2)).isEqualTo(5);
  }

  @Test
  void tellsHowManyAreUsed() {
    sends.look(0, new long[] {0, 0});
    sends.look(1, new long[] {1, 0});
    sends.look(2, new long[] {1, 0});

    assertThat(sends.used(0, 2)).isEqualTo(1);
    assertThat(sends.used(1, 2)).isZero();
  }
}
