package io.fairlead.core;

import io.fairlead.core.health.PoolHealth;
import io.fairlead.core.prefix.ExactIndex;
import io.fairlead.core.prefix.PrefixIndex;
import io.fairlead.core.prefix.PromptTokens;
import java.util.ArrayList;
import java.util.List;

/**
 * What requests take up where they are, and what their prompts leave there: moves a request through
 * the accounts of its endpoints, and tells the prefix index whether its prompt was computed.
 */
final class Bookings {

  private final PrefixIndex prefixes;
  private final ExactIndex exact;
  private final EndpointSet endpoints;

  /** Other pickers that are told what is sent; mostly none. */
  private final List<Follower> followers = new ArrayList<>();

  /** Of the last request that was sent. */
  private long number;

  Bookings(PrefixIndex prefixes, ExactIndex exact, EndpointSet endpoints) {
    this.prefixes = prefixes;
    this.exact = exact;
    this.endpoints = endpoints;
  }

  /** Who is told from now on what is sent. */
  Follower follow() {
    Follower follower = new Follower(endpoints);
    followers.add(follower);
    return follower;
  }

  /** Who is told no more. */
  void leave(Follower follower) {
    followers.remove(follower);
  }

  /**
   * It was sent to this endpoint, which holds its prompt as soon as that is computed.
   *
   * @return what it is told to others by
   */
  long sent(Flight flight, EndpointState endpoint) {
    Attempt attempt = flight.attempt;
    int added =
        prefixes.expect(endpoint.slot(), attempt.salt, flight.facts.blocks(), attempt.blocks);
    if (endpoint == attempt.at) {
      attempt.newBlocks = added;
    } else {
      attempt.newBlocksAtPrefill = added;
    }
    number++;
    for (int i = 0; i < followers.size(); i++) {
      followers.get(i).sent(number, endpoint, flight);
    }
    return number;
  }

  private void tellComputed(long now, long sent) {
    for (int i = 0; i < followers.size(); i++) {
      followers.get(i).computed(now, sent);
    }
  }

  private void tellOver(long now, long sent, int answerTokens) {
    for (int i = 0; i < followers.size(); i++) {
      followers.get(i).over(now, sent, answerTokens);
    }
  }

  private void learn(Flight flight, EndpointState endpoint) {
    prefixes.learn(
        endpoint.slot(), flight.attempt.salt, flight.facts.blocks(), flight.attempt.blocks);
  }

  /** Some of its answer came, or all of it: what it was asked of is there. */
  static void served(Flight flight, EndpointState at) {
    at.served(flight.attempt.target);
    if (flight.attempt.prefilledBy != null) {
      flight.attempt.prefilledBy.served(flight.attempt.target);
    }
  }

  /** Its first token came. */
  void firstToken(long now, Flight flight, EndpointState at) {
    flight.attempt.firstTokenAt = now;
    // Confirms what was learned when it was sent, if a failed request has withdrawn it since.
    confirm(flight, at);
    if (flight.attempt.prefillAt != null) {
      confirm(flight, flight.attempt.prefillAt);
    }
    if (flight.state().isPrefilling()) {
      prefilled(now, flight);
      at.firstToken(now, flight);
    }
  }

  /** An answer in one piece has begun: its prompt is computed for sure, though not since when. */
  void answeredWhole(long now, Flight flight, EndpointState at) {
    prefilled(now, flight);
    at.decodes(now, flight);
  }

  /**
   * Of answers in one piece, or that nobody sees, nothing tells when their prompts are computed:
   * they leave the line when those before them are through and their own may be. Whoever counts a
   * queue would else count each for all of its life. Prompts share steps, so that each takes a step
   * since it was sent, but after the one before it only what its tokens take.
   */
  void presumeFirstTokens(long now, EndpointState endpoint) {
    PrefillQueue line = endpoint.prefills();
    for (Flight head = line.head(); head != null && !head.showsFirstToken(); head = line.head()) {
      int uncached = head.attempt.uncached();
      double attention = head.attempt.attention();
      long expected = endpoint.pace().expected(uncached, attention);
      long since = line.headSince();
      long due =
          Math.max(
              since + endpoint.pace().tokens(uncached, attention), head.attempt.sentAt + expected);
      if (now - due < 0) {
        return;
      }
      if (head.isOfAnother()) {
        line.remove(due, head);
        endpoint.decodes(now, head);
        continue;
      }
      head.attempt.mayComputeUntil = since + PoolHealth.longest(expected);
      EndpointState decoding = head.attempt.at;
      prefilled(due, head);
      if (decoding != null) {
        decoding.decodes(now, head);
      }
      mayCompute(now, head);
    }
  }

  /**
   * Tells health whose answer is all that is seen of it, who has sent the head of one alone, and
   * where the request's prompt may still be computed unseen. Of two, nobody can tell who keeps the
   * body back.
   */
  static void mayCompute(long now, Flight flight) {
    Attempt attempt = flight.attempt;
    if (attempt.at != null && !flight.state().isAnswered() && !flight.showsFirstToken()) {
      attempt.at.health().owesWhole(now);
    }
    if (attempt.at != null
        && attempt.prefilledBy == null
        && !flight.state().isAnswered()
        && !flight.state().isLeft()
        && attempt.answersFor(now) >= 0) {
      attempt.at.health().hasHeadAlone(now, attempt.sentAt, now - attempt.answersFor(now));
    }
    boolean presumed = !flight.state().isPrefilling() && !flight.state().isAnswered();
    EndpointState computing = attempt.prefilledBy == null ? attempt.at : attempt.prefilledBy;
    if (presumed && computing != null && now - attempt.mayComputeUntil < 0) {
      computing.health().mayCompute(now);
    }
  }

  /** The prompt was computed: the endpoint holds it now, as was learned when it was sent. */
  void confirm(Flight flight, EndpointState endpoint) {
    if (flight.state().isLeft()) {
      return; // its prompt isn't kept
    }
    learn(flight, endpoint);
  }

  /**
   * Takes the current attempt off the accounts. What becomes of the request says who calls: it
   * ends, or is decided anew.
   */
  void settle(long now, Flight flight) {
    EndpointState endpoint = flight.attempt.at;
    if (endpoint != null) {
      expectNoMore(flight);
      boolean decoded = !flight.state().isPrefilling();
      if (!decoded) {
        notInLine(now, flight);
      }
      endpoint.health().over(flight.attempt.trial);
      endpoint.requests().remove(flight);
      endpoint.ended(now, flight, decoded);
      tellOver(now, flight.attempt.number, flight.attempt.answerTokens);
      flight.attempt.at = null;
      EndpointState prefiller = flight.attempt.prefilledBy;
      if (prefiller != null) {
        flight.attempt.prefilledBy = null;
        // Its account is as it was, but the end may have told plugins something of it.
        prefiller.publish();
      }
      endpoints.ended(endpoint);
    }
  }

  /**
   * What the engines tell of their caches counts from now on: the request is over there, or nobody
   * keeps its prompt any more.
   */
  void expectNoMore(Flight flight) {
    if (flight.attempt.at != null) {
      expectNoMore(flight, flight.attempt.at, flight.attempt.expectedFrom);
    }
    if (flight.attempt.prefillAt != null) {
      expectNoMore(flight, flight.attempt.prefillAt, flight.attempt.expectedFromAtPrefill);
    }
  }

  private void expectNoMore(Flight flight, EndpointState endpoint, int from) {
    PromptTokens prompt = flight.facts.tokens();
    if (prompt != null) {
      exact.expectNoMore(endpoint.slot(), flight.attempt.adapterSalt, prompt, from);
    }
  }

  /** Takes the current attempt, if there is one, off the accounts: the request is decided anew. */
  void takeBack(long now, Flight flight) {
    if (flight.attempt.at != null) {
      settle(now, flight);
      flight.to(FlightState.DECIDING);
    }
  }

  /** The prompt is computed. */
  private void prefilled(long now, Flight flight) {
    notInLine(now, flight);
    tellComputed(now, flight.attempt.number);
  }

  /** The prompt is computed, or nobody waits for it any more. */
  private void notInLine(long now, Flight flight) {
    Attempt attempt = flight.attempt;
    if (attempt.at != null) {
      prefixes.noMoreExpected(attempt.at.slot(), attempt.newBlocks);
      attempt.newBlocks = 0;
    }
    EndpointState prefiller = attempt.prefillAt;
    if (prefiller != null) {
      prefixes.noMoreExpected(prefiller.slot(), attempt.newBlocksAtPrefill);
      attempt.newBlocksAtPrefill = 0;
      expectNoMore(flight, prefiller, flight.attempt.expectedFromAtPrefill);
      flight.attempt.prefillAt = null;
      flight.attempt.thereSince = now;
      prefiller.prefills().remove(now, flight);
      prefiller.health().over(flight.attempt.prefillTrial);
      prefiller.ended(now, flight, false);
      tellOver(now, flight.attempt.prefillNumber, Attempt.NO_CONTEXT);
      endpoints.ended(prefiller);
    } else if (flight.attempt.at != null) {
      flight.attempt.at.prefills().remove(now, flight);
    }
  }

  /** The prompt was not computed: the endpoint holds no more of it than before. */
  void withdraw(Flight flight) {
    Attempt attempt = flight.attempt;
    if (attempt.at == null || flight.state().isLeft() || flight.firstTokenSeen()) {
      return;
    }
    withdraw(flight, attempt.at, attempt.number, attempt.matched);
    if (attempt.prefillAt != null) {
      withdraw(flight, attempt.prefillAt, attempt.prefillNumber, attempt.matchedAtPrefill);
    }
  }

  private void withdraw(Flight flight, EndpointState endpoint, long sent, int kept) {
    prefixes.withdraw(
        endpoint.slot(), flight.attempt.salt, flight.facts.blocks(), flight.attempt.blocks, kept);
    for (int i = 0; i < followers.size(); i++) {
      followers.get(i).withdraw(sent);
    }
  }
}
