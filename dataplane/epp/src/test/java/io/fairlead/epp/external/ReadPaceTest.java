package io.fairlead.epp.external;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReadPaceTest {

  private final ReadPace pace = new ReadPace(16);

  @Test
  void whoIsOfUseIsReadAsFastAsItComes() {
    for (int i = 0; i < 100; i++) {
      assertThat(pace.came(1)).isEqualTo(1);
      assertThat(pace.isHeldBack()).isFalse();
    }
  }

  @Test
  void oneThatFloodsIsReadOneAtATimeAndEverMoreRarely() {
    for (int i = 0; i < 15; i++) {
      assertThat(pace.came(-1)).isZero();
      assertThat(pace.isHeldBack()).as("some are on their way").isFalse();
    }
    long waited = 0;
    int read = 0;
    while (waited < 60 * ReadPace.LONGEST_PAUSE_NANOS) {
      assertThat(pace.came(-1)).isZero();
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
      assertThat(pace.came(-1)).isZero();
    }
    for (int i = 0; i < 20; i++) {
      assertThat(pace.pause()).isPositive();
      pace.tookOne();
      assertThat(pace.came(-1)).isZero();
    }
    assertThat(pace.pause()).isEqualTo(ReadPace.LONGEST_PAUSE_NANOS);
    pace.tookOne();
    assertThat(pace.came(ReadPace.MOST_SPARE - 1)).as("one at a time").isEqualTo(1);
    assertThat(pace.came(1)).isEqualTo(16);
    assertThat(pace.came(-ReadPace.MOST_SPARE - 1)).isZero();
    for (int i = 0; i < 15; i++) {
      assertThat(pace.came(-1)).isZero();
    }
    assertThat(pace.pause()).isEqualTo(ReadPace.FIRST_PAUSE_NANOS);
  }

  /** Its messages are read where requests are decided. */
  @Test
  void anAnswerNowAndThenPaysForNoFlood() {
    long waited = 0;
    int floods = 0;
    for (int i = 0; i < 10_000; i++) {
      boolean answer = i % 16 == 15;
      floods += answer ? 0 : 1;
      pace.came(answer ? 1 : -8_192);
      if (pace.isHeldBack()) {
        waited += pace.pause();
        pace.tookOne();
      }
    }
    assertThat(waited).isGreaterThan((floods - 16) * ReadPace.FIRST_PAUSE_NANOS);
  }

  @Test
  void answeringTwiceIsNoFlood() {
    for (int i = 0; i < 10_000; i++) {
      assertThat(pace.came(1)).isEqualTo(1);
      assertThat(pace.came(-1)).isEqualTo(1);
    }
  }
}
