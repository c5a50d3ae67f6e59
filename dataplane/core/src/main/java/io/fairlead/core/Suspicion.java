package io.fairlead.core;

import io.fairlead.core.health.PoolHealth;
import org.jspecify.annotations.Nullable;

/**
 * A request was answered with an error. Whoever failed it is to blame if another serves the
 * request, and is not if another fails it, too: some requests are failed by whoever gets them.
 *
 * @param at the endpoint that answered; null where it is not to blame
 * @param prefiller the one that was to compute the prompt, which may have failed it instead; null
 *     where there was none, or where it is not to blame
 * @param sentAt when the request was sent there
 * @param trial that it was sent on, as {@link PoolHealth#sent} said
 * @param prefillTrial the same of its prompt
 */
record Suspicion(
    @Nullable EndpointState at,
    @Nullable EndpointState prefiller,
    long sentAt,
    int trial,
    int prefillTrial) {

  /** Of those that have the attempt which failed. */
  static Suspicion of(EndpointState at, Attempt attempt) {
    return new Suspicion(
        at, attempt.prefilledBy, attempt.sentAt, attempt.trial, attempt.prefillTrial);
  }

  /**
   * Another serves the request. Of two, nobody can tell which failed it: both are blamed, and what
   * else they serve clears the one that is well. One that is out already is to blame alone, and one
   * that has a part in what is served is not.
   *
   * @param served the attempt that serves it
   */
  void isTrue(long now, PoolHealth health, Attempt served) {
    EndpointState other = prefiller == served.prefilledBy ? null : prefiller;
    if (at != null && (other == null || other.health().state() != HealthState.OUT)) {
      health.failed(now, at.health(), Failure.ERROR, sentAt, trial);
    }
    if (other != null) {
      health.failed(now, other.health(), Failure.ERROR, sentAt, prefillTrial);
    }
  }

  /**
   * Another fails the request, too: probes are to tell of all who did.
   *
   * @param failed the attempt that failed as this one did
   * @return what is suspected yet: one that computed the prompt for both
   */
  Suspicion isFalse(long now, PoolHealth health, EndpointState too, Attempt failed) {
    if (at != null) {
      health.didNotErr(at.health(), sentAt);
      health.mayErr(now, at.health());
    }
    health.mayErr(now, too.health());
    if (prefiller != null) {
      health.mayErr(now, prefiller.health());
    }
    EndpointState again = failed.prefilledBy;
    if (again != null && again != prefiller) {
      health.mayErr(now, again.health());
    }
    EndpointState common = again == prefiller ? again : null;
    return new Suspicion(null, common, sentAt, trial, prefillTrial);
  }

  /** Nobody else was asked, or nobody else has said anything. */
  void isOpen(long now, PoolHealth health) {
    if (at != null) {
      health.mayHaveFailed(now, at.health());
    }
    if (prefiller != null) {
      health.mayHaveFailed(now, prefiller.health());
    }
  }
}
