package io.fairlead.core.view;

import io.fairlead.plugin.Endpoint;

/** An endpoint as the core has it: every one that a plugin is shown is one. */
public interface PoolEndpoint extends Endpoint {

  /**
   * A small number from 0 up, no other endpoint's at the same time, for state in arrays. Given to
   * another endpoint when this one is gone, which {@link io.fairlead.plugin.Observer#joined} tells.
   */
  int slot();

  /**
   * When the page was asked for that is known of it, by the pool's clock; {@link Long#MIN_VALUE}
   * where there is none.
   */
  long scrapedAt();

  /**
   * Tokens in its cache of conversations that are between two of their requests, as far as no other
   * context has them; of those that came within some time, see {@link PoolCandidates#goesOn()}.
   */
  long restingTokens();

  /**
   * When the last of its requests ended, by the pool's clock, where none is in flight; {@link
   * Long#MIN_VALUE} where it has had none since its cache was empty.
   */
  long idleSince();

  /** When the page was asked for that is known of an endpoint that a plugin is shown. */
  static long scrapedAt(Endpoint endpoint) {
    return ((PoolEndpoint) endpoint).scrapedAt();
  }

  /** Tokens of contexts that rest at an endpoint that a plugin is shown. */
  static long restingTokens(Endpoint endpoint) {
    return ((PoolEndpoint) endpoint).restingTokens();
  }

  /** When the last request ended at an endpoint that a plugin is shown and that has none. */
  static long idleSince(Endpoint endpoint) {
    return ((PoolEndpoint) endpoint).idleSince();
  }

  /** The slot of an endpoint that a plugin is shown. */
  static int slot(Endpoint endpoint) {
    return ((PoolEndpoint) endpoint).slot();
  }
}
