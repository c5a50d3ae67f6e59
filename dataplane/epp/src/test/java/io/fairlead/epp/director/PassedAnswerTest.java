package io.fairlead.epp.director;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PassedAnswerTest {

  private static final long MILLI = 1_000_000;

  @Test
  void timesLieBetweenEventsAndNotBeforeTheFirst() {
    PassedAnswer answer = new PassedAnswer();
    answer.passed(10);
    answer.eventsAt(7 * MILLI, 1);
    answer.passed(20);
    answer.eventsAt(11 * MILLI, 2);
    answer.eventsAt(31 * MILLI, 3);
    answer.eventsAt(31_000 * MILLI, 4);

    assertThat(answer.bytes()).isEqualTo(30);
    assertThat(answer.events()).isEqualTo(4);
    assertThat(answer.nanosBetween()).isEqualTo(30_993 * MILLI);
    int last = PassedAnswer.bounds().length;
    assertThat(gaps(answer)).isEqualTo(gapsAt(bound(5 * MILLI), bound(20 * MILLI), last));
  }

  @Test
  void eventsOfOnePieceCameAtOnce() {
    PassedAnswer answer = new PassedAnswer();
    answer.eventsAt(0, 3);
    assertThat(gaps(answer)).isEqualTo(gapsAt(0, 0));
    answer.eventsAt(5 * MILLI, 5);
    assertThat(gaps(answer)).isEqualTo(gapsAt(0, 0, bound(5 * MILLI), 0));
    assertThat(answer.nanosBetween()).isEqualTo(5 * MILLI);
  }

  @Test
  void aPieceCostsNoObject() {
    PassedAnswer answer = new PassedAnswer();
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 1; i <= 100_000; i++) {
      answer.passed(100);
      answer.eventsAt(i * MILLI, i);
    }
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(10_000);
  }

  private static int bound(long nanos) {
    return Arrays.binarySearch(PassedAnswer.bounds(), nanos);
  }

  private static int[] gaps(PassedAnswer answer) {
    return IntStream.rangeClosed(0, PassedAnswer.bounds().length).map(answer::gaps).toArray();
  }

  private static int[] gapsAt(int... bounds) {
    int[] all = new int[PassedAnswer.bounds().length + 1];
    for (int bound : bounds) {
      all[bound]++;
    }
    return all;
  }
}
