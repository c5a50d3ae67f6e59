package io.fairlead.core;

import io.fairlead.core.Rejection.Reason;
import org.jspecify.annotations.Nullable;

/** Ends the attempts, or the requests, whose time is up, and says whose time at a prompt is not. */
final class DeadlineWatch {

  private final RequestTable requests;
  private final CandidateChoice candidates;
  private final AttemptRules rules;
  private final FailedAttempts failures;
  private final RequestEnds ends;

  DeadlineWatch(
      RequestTable requests,
      CandidateChoice candidates,
      AttemptRules rules,
      FailedAttempts failures,
      RequestEnds ends) {
    this.requests = requests;
    this.candidates = candidates;
    this.rules = rules;
    this.failures = failures;
    this.ends = ends;
  }

  /** Looks at every request that is sent; returns what a broken plugin threw last, or null. */
  @Nullable Throwable check(long now) {
    @Nullable Throwable failure = null;
    for (int entry = 0; entry < requests.entries(); entry++) {
      Flight flight = requests.at(entry);
      if (flight != null && flight.attempt.at != null) {
        try {
          check(now, flight, flight.attempt.at);
        } catch (RuntimeException | Error e) {
          failure = e;
        }
      }
    }
    return failure;
  }

  private void check(long now, Flight flight, EndpointState at) {
    Bookings.mayCompute(now, flight);
    if (flight.state().isLeft()) {
      if (LeftRequests.isOver(now, flight, at)) {
        ends.presumeOver(now, flight, at);
      }
    } else if (AttemptRules.isOver(now, flight)) {
      ends.giveUp(now, flight, Reason.TOTAL_TIMEOUT);
    } else if (AttemptRules.isSilent(now, flight)) {
      rules.stopped(now, flight, at);
      ends.giveUp(now, flight, Reason.SILENCE_TIMEOUT);
    } else if (!flight.state().isAnswered() && rules.isLate(now, flight, at)) {
      firstByteIsLate(now, flight, at);
    }
  }

  private void firstByteIsLate(long now, Flight flight, EndpointState at) {
    AttemptRules.note(now, flight, Failure.FIRST_BYTE_LATE);
    // What was told of this attempt already, when nobody else was found for it, is not told again.
    if (!flight.nowhereElse && AttemptRules.isOverdue(now, flight, at)) {
      rules.failed(now, flight, at, Failure.FIRST_BYTE_LATE);
    }
    boolean again = false;
    if (candidates.hasOtherInUse(flight)) {
      again = rules.maySendAgain(now, flight, Failure.FIRST_BYTE_LATE);
    } else {
      AttemptRules.note(flight, NotSentAgain.NOBODY_ELSE);
    }
    boolean sent = again && failures.sendAgain(now, flight, Reason.UPSTREAM_FAILED) == null;
    if (!sent && rules.isLate(now, flight, at)) {
      ends.giveUp(now, flight, Reason.FIRST_BYTE_TIMEOUT);
    }
  }
}
