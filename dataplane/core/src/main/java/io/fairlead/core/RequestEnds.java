package io.fairlead.core;

import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.account.TokenEstimate;
import io.fairlead.core.flow.WaitEnd;
import io.fairlead.core.health.PoolHealth;
import io.fairlead.core.receipt.DecidedRequest;
import io.fairlead.core.receipt.Receipt;
import io.fairlead.crds.config.Criticality;

/**
 * Every way in which a request ends: takes it off the accounts, frees its entry, and tells whom it
 * concerns, its frontend first and then the observers.
 */
final class RequestEnds {

  private final RequestTable requests;
  private final LeftRequests left;
  private final Bookings bookings;
  private final Contexts contexts;
  private final Observers observers;
  private final ActiveConfig config;
  private final AttemptRules rules;
  private final PoolHealth health;
  private final TokenEstimate tokens;
  private final Admission admission;

  RequestEnds(
      RequestTable requests,
      LeftRequests left,
      Bookings bookings,
      Contexts contexts,
      Observers observers,
      ActiveConfig config,
      AttemptRules rules,
      PoolHealth health,
      TokenEstimate tokens,
      Admission admission) {
    this.requests = requests;
    this.left = left;
    this.bookings = bookings;
    this.contexts = contexts;
    this.observers = observers;
    this.config = config;
    this.rules = rules;
    this.health = health;
    this.tokens = tokens;
    this.admission = admission;
  }

  /**
   * Its frontend says so.
   *
   * @param judged whether it says something of the endpoint
   */
  void ended(long now, Flight flight, Outcome outcome, Usage usage, boolean judged) {
    ended(now, flight, outcome, usage, judged, outcome.code());
  }

  /** Its frontend has ended it to make room, as it was asked to. That is no doing of its client. */
  void evicted(long now, Flight flight) {
    String how = Reason.EVICTED_IN_FLIGHT.code();
    ended(now, flight, Outcome.DISCONNECTED, Usage.UNKNOWN, false, how);
  }

  /** Its client gets the answer of an attempt that was given up. That is no doing of its client. */
  void answeredByFormer(long now, Flight flight) {
    String how = DecidedRequest.ANSWERED_BY_FORMER;
    ended(now, flight, Outcome.DISCONNECTED, Usage.UNKNOWN, false, how);
  }

  private void ended(
      long now, Flight flight, Outcome outcome, Usage usage, boolean judged, String how) {
    admission.stopWaiting(now, flight, WaitEnd.CANCELLED);
    Attempt attempt = flight.attempt;
    PromptSize prompt = flight.facts.prompt();
    tokens.learn(attempt.target, prompt.textBytes(), prompt.mediaTokens(), usage.promptTokens());
    EndpointState endpoint = attempt.at;
    if (endpoint != null) {
      observers.over(now, flight, endpoint, outcome, usage);
      if (judged) {
        rules.judge(now, flight, endpoint, outcome, usage);
      }
      if (outcome == Outcome.COMPLETED && !attempt.judged) {
        Bookings.served(flight, endpoint);
      }
      if (flight.firstTokenSeen()
          || (flight.state().isAnswered() && !attempt.judged && outcome == Outcome.COMPLETED)) {
        // An engine frees a request's blocks when it ends: that is when they were last used.
        bookings.confirm(flight, endpoint);
        int output = usage.outputTokens(outcome == Outcome.COMPLETED);
        contexts.rests(now, flight, endpoint, output);
        attempt.answerTokens = Math.max(0, output);
      } else {
        bookings.withdraw(flight);
      }
    }
    bookings.settle(now, flight);
    remove(now, flight, how, usage, outcome == Outcome.COMPLETED);
    observers.tellEnd();
  }

  /** Nobody saw its end, and it must be over by now. */
  void presumeOver(long now, Flight flight, EndpointState at) {
    Attempt attempt = flight.attempt;
    long request = flight.ticket;
    LeftListener told = flight.leftListener;
    observers.over(now, flight, at, Outcome.DISCONNECTED, Usage.UNKNOWN);
    contexts.rests(now, flight, at, Usage.UNKNOWN.outputTokens(false));
    attempt.answerTokens = 0;
    // Nothing else could end a trial.
    if (attempt.trial != 0) {
      health.answered(now, at.health(), attempt.sentAt, attempt.trial);
    }
    if (attempt.prefilledBy != null && attempt.prefillTrial != 0) {
      health.answered(now, attempt.prefilledBy.health(), attempt.sentAt, attempt.prefillTrial);
    }
    bookings.settle(now, flight);
    remove(now, flight, DecidedRequest.PRESUMED_OVER, Usage.UNKNOWN, false);
    try {
      told.presumedOver(request);
    } finally {
      observers.tellEnd();
    }
  }

  /** Rejects a request that was sent. */
  void giveUp(long now, Flight flight, Reason reason) {
    EndpointState endpoint = flight.attempt.at;
    if (endpoint != null) {
      observers.over(now, flight, endpoint, Outcome.FAILED, Usage.UNKNOWN);
      bookings.withdraw(flight);
      bookings.settle(now, flight);
    }
    try {
      reject(now, flight, reason);
    } finally {
      observers.tellEnd();
    }
  }

  /** Rejects a request that is not on the accounts. */
  void reject(long now, Flight flight, Reason reason) {
    reject(now, flight, config.criticalityOf(flight.facts), reason);
  }

  void reject(long now, Flight flight, Criticality criticality, Reason reason) {
    long ticket = flight.ticket;
    RequestListener listener = flight.listener;
    rules.leftOpen(now, flight);
    Rejection rejection = rejection(now, flight, criticality, reason);
    remove(now, flight, reason.code(), Usage.UNKNOWN, false);
    listener.reject(ticket, rejection);
  }

  private Rejection rejection(long now, Flight flight, Criticality criticality, Reason reason) {
    int comeAgain = reason.ofRoom() ? admission.comeAgain(now, flight) : reason.retryAfterSeconds();
    return new Rejection(reason, criticality, reason.message(), comeAgain);
  }

  /** Asks its frontend to end the request, if no byte of its answer has come. */
  void askToEnd(long now, Flight flight) {
    Criticality criticality = config.criticalityOf(flight.facts);
    flight.listener.evict(
        flight.ticket, rejection(now, flight, criticality, Reason.EVICTED_IN_FLIGHT));
  }

  private void remove(long now, Flight flight, String how, Usage usage, boolean whole) {
    Receipt receipt = flight.receipt();
    if (receipt != null) {
      receipt.ended(now, how, usage);
    }
    if (flight.counted && flight.attempts == 0) {
      contexts.unsent(flight.facts.likeness());
    }
    admission.over(now, flight, usage, whole);
    left.remove(flight);
    requests.remove(flight);
  }
}
