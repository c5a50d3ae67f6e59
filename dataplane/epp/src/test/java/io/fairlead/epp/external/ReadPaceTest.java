package io.fairlead.epp.external;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReadPaceTest {

  private final ReadPace pace = new ReadPace(16);

  @Test
  void whoIsOfUseIsReadAsFastAsItComes() {
    for (int i = 0; i < 100; i++) {
      assertThat(pace.came(true)).isEqualTo(1);
      assertThat(pace.isHeldBack()).isFalse();
    }
  }

  @Test
  void oneThatFloodsIsReadOneAtATimeAndEverMoreRarely() {
    for (int i = 0; i < 15; i++) {
      assertThat(pace.came(false)).isZero();
      assertThat(pace.isHeldBack()).as("some are on their way").isFalse();
    }
    long waited = 0;
    int read = 0;
    while (waited < 60 * ReadPace.LONGEST_PAUSE_NANOS) {
      assertThat(pace.came(false)).isZero();
      assertThat(pace.isHeldBack()).isTrue();
      waited += pace.pause();
      pace.tookOne();
      assertThat(pace.isHeldBack()).isFalse();
      read++;
    }
    assertThat(read).isLessThan(70);
  }

  @Test
  void itIsReadAsEverOnceItIsOfUseAgain() {
    for (int i = 0; i < 16; i++) {
      assertThat(pace.came(false)).isZero();
    }
    for (int i = 0; i < 20; i++) {
      assertThat(pace.pause()).isPositive();
      pace.tookOne();
      assertThat(pace.came(false)).isZero();
    }
    assertThat(pace.pause()).isEqualTo(ReadPace.LONGEST_PAUSE_NANOS);
    pace.tookOne();
    assertThat(pace.came(true)).isEqualTo(16);
    for (int i = 0; i < 16; i++) {
      assertThat(pace.came(false)).isZero();
    }
    assertThat(pace.pause()).isEqualTo(ReadPace.FIRST_PAUSE_NANOS);
  }
}
