package io.fairlead.core;

import io.fairlead.core.flow.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * Has sheddable requests in flight make room for more important ones that wait, where a config
 * wants that: of the least important band first, and of these the one that was sent last, which has
 * least to lose. Only a request's frontend knows whether a byte of its answer has come by now, so
 * it is asked: the request is over once it says so.
 *
 * <p>A few are asked at a time, and the next ones when these are over: it shows by then whether
 * what they left was enough.
 */
final class InFlightEviction {

  private static final int MOST_AT_ONCE = 2;

  /** A frontend that has said nothing for so long goes on with its request. */
  private static final long PATIENCE = 10_000_000_000L;

  /** Where nobody was found, all in flight are not looked through again for so long. */
  private static final long REST = 100_000_000L;

  private final RequestTable requests;
  private final EndpointSet endpoints;
  private final Admission admission;
  private final RequestEnds ends;

  private final long[] asked = new long[MOST_AT_ONCE];
  private int askedCount;
  private long askedAt;

  /** For whom nobody was found last, and when. */
  private long restingFor = Long.MIN_VALUE;

  private long restingSince;

  InFlightEviction(
      RequestTable requests, EndpointSet endpoints, Admission admission, RequestEnds ends) {
    this.requests = requests;
    this.endpoints = endpoints;
    this.admission = admission;
    this.ends = ends;
  }

  /** Somebody may wait who goes before what is in flight. */
  void look(long now) {
    Waiting first = admission.waitsForEviction();
    if (first == null
        || (first.flow().priority() <= restingFor && now - restingSince < REST)
        || endpoints.eligible().length == 0
        || someAreAsked(now)) {
      return;
    }
    restingFor = Long.MIN_VALUE;
    RequestFacts facts = admission.flight(first).facts;
    int most = Math.min(MOST_AT_ONCE, admission.waitingBeside(first));
    while (askedCount < most) {
      Flight victim = victim(first.flow().priority(), facts);
      if (victim == null) {
        restingFor = askedCount == 0 ? first.flow().priority() : Long.MIN_VALUE;
        restingSince = now;
        return;
      }
      asked[askedCount++] = victim.ticket;
      askedAt = now;
      victim.askedToEnd = true;
      ends.askToEnd(now, victim);
    }
  }

  /** Whether there are some whose frontends have not said yet what becomes of them. */
  private boolean someAreAsked(long now) {
    for (int i = 0; i < askedCount; i++) {
      Flight flight = requests.get(asked[i]);
      if (flight != null && mayEnd(flight) && now - askedAt < PATIENCE) {
        return true;
      }
    }
    askedCount = 0;
    return false;
  }

  private static boolean mayEnd(Flight flight) {
    return flight.attempt.at != null
        && flight.attempt.sheddable
        && !flight.hasReachedClient()
        && !flight.state().isLeft();
  }

  /** Who goes first for somebody of this priority; null where nobody may. */
  private @Nullable Flight victim(long priority, RequestFacts waits) {
    Flight chosen = null;
    long chosenPriority = priority;
    for (int entry = 0; entry < requests.entries(); entry++) {
      Flight flight = requests.at(entry);
      if (flight == null || flight.flow == null || flight.askedToEnd || !mayEnd(flight)) {
        continue;
      }
      EndpointState at = flight.attempt.at;
      long own = flight.flow.priority();
      boolean sooner =
          own < chosenPriority
              || (chosen != null
                  && own == chosenPriority
                  && flight.attempt.sentAt - chosen.attempt.sentAt > 0);
      if (sooner
          && at != null
          && !endpoints.leaving().contains(at)
          && CandidateChoice.allowed(waits, at)) {
        chosen = flight;
        chosenPriority = own;
      }
    }
    return chosen;
  }
}
