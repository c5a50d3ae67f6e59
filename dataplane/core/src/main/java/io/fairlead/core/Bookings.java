package io.fairlead.core;

import io.fairlead.core.Flight.Phase;
import io.fairlead.core.prefix.PrefixIndex;

/**
 * What requests take up where they are, and what their prompts leave there: moves a request through
 * the accounts of its endpoints, and tells the prefix index whether its prompt was computed.
 */
final class Bookings {

  private final PrefixIndex prefixes;
  private final EndpointSet endpoints;

  Bookings(PrefixIndex prefixes, EndpointSet endpoints) {
    this.prefixes = prefixes;
    this.endpoints = endpoints;
  }

  /** Its first token came. */
  void firstToken(long now, Flight flight, EndpointState at) {
    flight.firstTokenAt = now;
    // Confirms what was learned when it was sent, if a failed request has withdrawn it since.
    confirm(flight, at);
    if (flight.prefillAt != null) {
      confirm(flight, flight.prefillAt);
    }
    if (flight.phase == Phase.PREFILLING) {
      prefilled(now, flight);
      at.firstToken(now, flight);
    }
  }

  /**
   * Of answers in one piece, or that nobody sees, nothing tells when their prompts are computed:
   * they leave the line when those before them are through and their own may be. Whoever counts a
   * queue would else count each for all of its life.
   */
  void presumeFirstTokens(long now, EndpointState endpoint) {
    PrefillQueue line = endpoint.prefills();
    for (Flight head = line.head(); head != null && !head.showsFirstToken(); head = line.head()) {
      long due =
          Math.max(line.headSince(), head.sentAt) + endpoint.pace().expected(head.uncached());
      if (now - due < 0) {
        return;
      }
      EndpointState decoding = head.at;
      prefilled(due, head);
      if (decoding != null) {
        decoding.decodes(now, head);
      }
    }
  }

  /** The prompt was computed: the endpoint holds it now, as was learned when it was sent. */
  void confirm(Flight flight, EndpointState endpoint) {
    if (flight.left) {
      return; // its prompt isn't kept
    }
    prefixes.learn(endpoint.slot(), flight.salt, flight.facts.blocks(), flight.blocks);
  }

  /** Takes the current attempt off the accounts. */
  void settle(long now, Flight flight) {
    EndpointState endpoint = flight.at;
    if (endpoint != null) {
      boolean decoded = flight.phase == Phase.DECODING;
      if (!decoded) {
        prefilled(now, flight);
      }
      endpoint.health().over(flight.trial);
      endpoint.requests().remove(flight);
      endpoint.ended(now, flight, decoded);
      flight.at = null;
      flight.prefilledBy = null;
      flight.phase = Phase.DECIDING;
      endpoints.ended(endpoint);
    }
  }

  /** The prompt is computed, or nobody waits for it any more. */
  private void prefilled(long now, Flight flight) {
    EndpointState prefiller = flight.prefillAt;
    if (prefiller != null) {
      flight.prefillAt = null;
      prefiller.prefills().remove(now, flight);
      prefiller.health().over(flight.prefillTrial);
      prefiller.ended(now, flight, false);
      endpoints.ended(prefiller);
    } else if (flight.at != null) {
      flight.at.prefills().remove(now, flight);
    }
  }

  /** The prompt was not computed: the endpoint holds no more of it than before. */
  void withdraw(Flight flight) {
    if (flight.at == null || flight.left || flight.firstTokenSeen()) {
      return;
    }
    withdraw(flight, flight.at, flight.matched);
    if (flight.prefillAt != null) {
      withdraw(flight, flight.prefillAt, flight.matchedAtPrefill);
    }
  }

  private void withdraw(Flight flight, EndpointState endpoint, int kept) {
    prefixes.withdraw(endpoint.slot(), flight.salt, flight.facts.blocks(), flight.blocks, kept);
  }
}
