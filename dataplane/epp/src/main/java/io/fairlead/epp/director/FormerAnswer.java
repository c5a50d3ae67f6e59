package io.fairlead.epp.director;

import io.fairlead.core.PoolCore;
import io.fairlead.core.Rejection;
import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.Route;
import io.fairlead.core.Timeouts;
import io.fairlead.core.health.Deadlines;
import org.jspecify.annotations.Nullable;

/**
 * An answer that its client gets though the core has given the attempt up, just when it began. The
 * core times it no more, so that this does, by the same bounds. On the pool's loop.
 */
final class FormerAnswer {

  private final Route from;
  private final long over;
  private final long mostSilence;
  private long lastByteAt;
  private boolean heldUp;

  /**
   * Of which some has come just now.
   *
   * @param set the bounds in time on its request
   */
  FormerAnswer(long now, long arrivedAt, Route from, Timeouts set) {
    this.from = from;
    over = Deadlines.at(arrivedAt, Deadlines.total(set));
    mostSilence = Deadlines.silence(set);
    lastByteAt = now;
  }

  /** More of it came. */
  void progressed(long now) {
    lastByteAt = now;
  }

  /** Its client takes no more of it now, or takes more again. */
  void heldUp(long now, boolean held) {
    heldUp = held;
    lastByteAt = now;
  }

  /** Why it is to be broken off; null where it may go on. */
  @Nullable Rejection late(long now) {
    if (over != Deadlines.NEVER && now - over >= 0) {
      return rejection(Reason.TOTAL_TIMEOUT);
    }
    boolean silent =
        !heldUp
            && mostSilence != Deadlines.NEVER
            && now - lastByteAt - PoolCore.PROGRESS_NANOS >= mostSilence;
    return silent ? rejection(Reason.SILENCE_TIMEOUT) : null;
  }

  private Rejection rejection(Reason reason) {
    return new Rejection(reason, from.criticality(), reason.message());
  }
}
