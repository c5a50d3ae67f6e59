package io.fairlead.core;

import io.fairlead.core.health.PoolHealth;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint answered a request with an error. It is to blame if another serves the request, and
 * it is not if another fails it, too: some requests are failed by whoever gets them.
 *
 * @param at the endpoint; null where two have failed the request, so that it is nobody
 * @param sentAt when the request was sent there
 * @param trial that it was sent on, as {@link PoolHealth#sent} said
 */
record Suspicion(@Nullable EndpointState at, long sentAt, int trial) {

  static final Suspicion OF_NOBODY = new Suspicion(null, 0, 0);

  /** Another serves the request. */
  void isTrue(long now, PoolHealth health) {
    if (at != null) {
      health.failed(now, at.health(), Failure.ERROR, sentAt, trial);
    }
  }

  /** Another fails the request, too. */
  void isFalse(long now, PoolHealth health) {
    if (at != null) {
      health.didNotErr(at.health(), sentAt);
      health.mayErr(now, at.health());
    }
  }

  /** Nobody else was asked, or nobody else has said anything. */
  void isOpen(long now, PoolHealth health) {
    if (at != null) {
      health.mayHaveFailed(now, at.health());
    }
  }
}
