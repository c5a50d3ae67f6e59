package io.fairlead.core;

import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.scheduling.CompiledConfig;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What happens when an attempt fails: the request is sent to somebody else, the endpoint's own
 * answer is passed on, or the request is rejected.
 */
final class FailedAttempts {

  private final ActiveConfig config;
  private final EndpointSet endpoints;
  private final AttemptRules rules;
  private final Bookings bookings;
  private final Observers observers;
  private final Dispatch dispatch;
  private final RequestEnds ends;

  FailedAttempts(
      ActiveConfig config,
      EndpointSet endpoints,
      AttemptRules rules,
      Bookings bookings,
      Observers observers,
      Dispatch dispatch,
      RequestEnds ends) {
    this.config = config;
    this.endpoints = endpoints;
    this.rules = rules;
    this.bookings = bookings;
    this.observers = observers;
    this.dispatch = dispatch;
    this.ends = ends;
  }

  /** Its frontend says so; nobody has left the request. */
  void failed(long now, Flight flight, Failure failure) {
    EndpointState endpoint = flight.attempt.at;
    if (endpoint == null) {
      return;
    }
    rules.failed(now, flight, endpoint, failure);
    Reason failed = failure.ofEndpoint() ? Reason.UPSTREAM_FAILED : Reason.NO_SOCKET;
    Reason refused = failed;
    if (rules.maySendAgain(now, flight, failure)) {
      refused = sendAgain(now, flight, failed);
    }
    if (refused == null) {
      return;
    }
    if (failure.answered()) {
      rules.leftOpen(now, flight);
      flight.answered(now);
      flight.attempt.judged = true;
      flight.listener.pass(flight.ticket);
    } else {
      ends.giveUp(now, flight, refused);
    }
  }

  /**
   * A proxy shows the answer of another endpoint than the one that it was to send the request to:
   * what counts there moves to the one that answers, and is nobody's where that is leaving, or the
   * config would never choose it. Where it is none of the pool's nothing is known for certain, and
   * nothing changes.
   */
  void passedOver(long now, Flight flight, Subset answering) {
    CompiledConfig active = config.get();
    EndpointState endpoint = flight.attempt.at;
    if (active == null
        || endpoint == null
        || flight.hasReachedClient()
        || answering.allows(endpoint.address(), endpoint.port())
        || !isKnown(answering)) {
      return;
    }
    rules.failed(now, flight, endpoint, Failure.PASSED_OVER);
    withdraw(now, flight, endpoint);
    flight.facts = flight.facts.only(answering);
    boolean moved = false;
    try {
      moved = dispatch.follow(now, flight, active);
    } finally {
      if (flight.state() == FlightState.ENDED) {
        observers.tellEnd();
      } else if (!moved) {
        ends.answeredByFormer(now, flight);
      }
    }
  }

  /** The attempt has left nothing at its endpoint, and is over but for the accounts. */
  private void withdraw(long now, Flight flight, EndpointState endpoint) {
    flight.failed(endpoint);
    bookings.withdraw(flight);
    observers.over(now, flight, endpoint, Outcome.FAILED, Usage.UNKNOWN);
  }

  private boolean isKnown(Subset answering) {
    return Stream.concat(Stream.of(endpoints.eligible()), endpoints.leaving().stream())
        .anyMatch(endpoint -> answering.allows(endpoint.address(), endpoint.port()));
  }

  /**
   * Sends the request to somebody else; returns why not when nobody gets it and its frontend was
   * told nothing yet: then it is still where it was.
   *
   * <p>A prompt that another endpoint computes counts there, and an endpoint that has left is
   * forgotten with its last request. Such a request is taken off the accounts before the choice,
   * and rejected where nobody gets it.
   *
   * @param failed why it is rejected where nobody else is there to be sent to
   */
  @Nullable Reason sendAgain(long now, Flight flight, Reason failed) {
    CompiledConfig active = config.get();
    EndpointState endpoint = flight.attempt.at;
    if (active == null || endpoint == null) {
      return failed;
    }
    withdraw(now, flight, endpoint);
    if (flight.attempt.prefillAt != null || endpoints.leaving().contains(endpoint)) {
      bookings.takeBack(now, flight);
    }
    try {
      Reason refused = dispatch.send(now, flight, active);
      if (refused == Reason.UPSTREAM_FAILED) {
        refused = failed;
      }
      if (refused != null) {
        rules.notSentAgain(flight);
        if (flight.state() == FlightState.DECIDING) {
          ends.reject(now, flight, refused);
          return null;
        }
      }
      return refused;
    } finally {
      // Where somebody got it, the observers have been told that the attempt before is over.
      if (flight.state() == FlightState.ENDED) {
        observers.tellEnd();
      } else {
        observers.notOver();
      }
    }
  }
}
