package io.fairlead.epp.frontend.gateway;

import java.util.concurrent.TimeUnit;

/**
 * A line of the log in ten seconds, for what may befall each request. Not thread-safe: owned by an
 * event loop.
 */
final class RareTelling {

  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private boolean told;
  private long toldAt;

  /** Whether it is to be told now; counts as told then. */
  boolean isDue(long now) {
    if (told && now - toldAt < PAUSE_NANOS) {
      return false;
    }
    told = true;
    toldAt = now;
    return true;
  }
}
