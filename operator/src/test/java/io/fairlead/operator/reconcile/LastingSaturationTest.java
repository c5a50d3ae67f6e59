package io.fairlead.operator.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.operator.reconcile.LastingSaturation.Told;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LastingSaturationTest {
  private static final Duration LASTS = Duration.ofMinutes(1);
  private static final Verdict ROOM = Verdict.no(Reason.ROOM_FOR_REQUESTS, "room");
  private static final Verdict FULL = Verdict.yes(Reason.EVERY_ENDPOINT_FULL, "since 1");
  private static final Verdict FULL_AGAIN = Verdict.yes(Reason.EVERY_ENDPOINT_FULL, "since 2");
  private static final Verdict UNKNOWN = Verdict.pending("nobody reports");

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000);
  private final LastingSaturation saturation = new LastingSaturation(LASTS, nanos::get);

  @Test
  void aChangeIsToldOnceItHasLasted() {
    assertThat(of(ROOM)).isEqualTo(new Told(ROOM, null));
    assertThat(of(FULL)).isEqualTo(new Told(ROOM, LASTS));
    pass(Duration.ofSeconds(40));
    assertThat(of(FULL)).isEqualTo(new Told(ROOM, Duration.ofSeconds(20)));
    pass(Duration.ofSeconds(20));
    assertThat(of(FULL)).isEqualTo(new Told(FULL, null));
  }

  @Test
  void whatFlipsAllTheWhileIsToldNever() {
    of(ROOM);
    for (int i = 0; i < 10; i++) {
      assertThat(of(FULL).verdict()).isEqualTo(ROOM);
      pass(LASTS.dividedBy(2));
      assertThat(of(ROOM)).isEqualTo(new Told(ROOM, null));
      pass(LASTS.dividedBy(2));
    }
  }

  /** Another time since when is a write of every model, too. */
  @Test
  void soIsOneThatIsOfTheMessageAlone() {
    of(FULL);
    assertThat(of(FULL_AGAIN)).isEqualTo(new Told(FULL, LASTS));
    pass(LASTS);
    assertThat(of(FULL_AGAIN)).isEqualTo(new Told(FULL_AGAIN, null));
  }

  @Test
  void whatIsNotKnownAnyMoreIsToldAtOnce() {
    of(FULL);
    assertThat(of(UNKNOWN)).isEqualTo(new Told(UNKNOWN, null));
    assertThat(of(ROOM)).isEqualTo(new Told(ROOM, null));
  }

  @Test
  void aPoolThatIsGoneIsForgotten() {
    of(FULL);
    saturation.forget("pool");
    assertThat(of(ROOM)).isEqualTo(new Told(ROOM, null));
  }

  private Told of(Verdict now) {
    return saturation.of("pool", now);
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }
}
