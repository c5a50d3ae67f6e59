package io.fairlead.epp.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.QueueSnapshot;
import io.fairlead.core.flow.WaitCounters;
import java.util.List;
import org.junit.jupiter.api.Test;

class SaturationWatchTest {

  private static final long SECOND = 1_000_000_000;
  private static final QueueSnapshot FULL = new QueueSnapshot(true, 1, 2, true, List.of());
  private static final QueueSnapshot ROOM = new QueueSnapshot(true, 0.4, 2, false, List.of());

  private final SaturationWatch watch = new SaturationWatch();

  private long look(QueueSnapshot queues, long second) {
    return watch.look(queues, second * SECOND);
  }

  @Test
  void tellsOfNoBurst() {
    for (long second = 0; second < 60; second++) {
      assertThat(look(second % 3 == 2 ? ROOM : FULL, second)).isEqualTo(SaturationWatch.ROOM);
    }
  }

  @Test
  void tellsSinceWhenUntilThereIsRoomForAWhile() {
    assertThat(look(FULL, 10)).isEqualTo(SaturationWatch.ROOM);
    assertThat(look(FULL, 12)).isEqualTo(SaturationWatch.ROOM);
    assertThat(look(FULL, 13)).isEqualTo(10 * SECOND);
    assertThat(look(ROOM, 20)).isEqualTo(10 * SECOND);
    assertThat(look(ROOM, 34)).isEqualTo(10 * SECOND);
    assertThat(look(FULL, 35)).isEqualTo(10 * SECOND);
    assertThat(look(ROOM, 36)).isEqualTo(10 * SECOND);
    assertThat(look(ROOM, 51)).isEqualTo(SaturationWatch.ROOM);
    assertThat(look(FULL, 60)).isEqualTo(SaturationWatch.ROOM);
    assertThat(look(FULL, 63)).isEqualTo(60 * SECOND);
  }

  @Test
  void whereSomebodyWaitsThereIsNoRoom() {
    QueueSnapshot queue =
        new QueueSnapshot(
            true,
            0,
            0,
            false,
            List.of(new QueueSnapshot.Band(0, 1, 10, 10, 1, new WaitCounters())));
    look(queue, 0);
    assertThat(look(queue, 3)).isZero();
  }
}
