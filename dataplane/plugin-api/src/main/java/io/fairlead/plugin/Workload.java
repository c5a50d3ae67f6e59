package io.fairlead.plugin;

/**
 * The numbers of one endpoint that say how busy it is, copied into an object that a scorer keeps
 * and fills again for each endpoint that has changed: see {@link Candidates#changes}. All but sizes
 * and {@link #scrapedWaiting} come from what this picker sent; those of the first token's queue are
 * as in {@link Prefills}.
 */
public final class Workload {

  /** {@link Endpoint#inFlight()}. */
  public double inFlight;

  /** {@link Endpoint#criticalInFlight()}. */
  public double criticalInFlight;

  /** {@link Endpoint#sheddableInFlight()}. */
  public double sheddableInFlight;

  /** {@link Endpoint#decoding()}. */
  public double decoding;

  /** {@link Endpoint#inFlightTokens()}. */
  public double inFlightTokens;

  /** {@link Endpoint#repeatedInFlightTokens()}. */
  public double repeatedTokens;

  /** {@link Prefills#count()}. */
  public double prefills;

  /** {@link Prefills#uncachedTokens()}. */
  public double prefillTokens;

  /** {@link Prefills#attention()}. */
  public double prefillAttention;

  /** {@link Prefills#headUncached()}. */
  public double headTokens;

  /** {@link Prefills#headAttention()}. */
  public double headAttention;

  /** {@link Endpoint#kvCapacityTokens()}. */
  public double kvCapacityTokens;

  /** {@link Adapters#slots()}. */
  public double adapterSlots;

  /** {@link Endpoint#risk()}. */
  public double risk;

  /** {@link Endpoint#scrapedWaiting()}. */
  public double scrapedWaiting;

  /** {@link Prefills#headSince()}. */
  public long headSince;

  /** Fills it with the numbers of this endpoint. */
  public void set(Endpoint endpoint) {
    Prefills waiting = endpoint.prefills();
    inFlight = endpoint.inFlight();
    criticalInFlight = endpoint.criticalInFlight();
    sheddableInFlight = endpoint.sheddableInFlight();
    decoding = endpoint.decoding();
    inFlightTokens = (double) endpoint.inFlightTokens();
    repeatedTokens = (double) endpoint.repeatedInFlightTokens();
    prefills = waiting.count();
    prefillTokens = (double) waiting.uncachedTokens();
    prefillAttention = waiting.attention();
    headTokens = waiting.headUncached();
    headAttention = waiting.headAttention();
    kvCapacityTokens = (double) endpoint.kvCapacityTokens();
    adapterSlots = endpoint.adapters().slots();
    risk = endpoint.risk();
    scrapedWaiting = endpoint.scrapedWaiting();
    headSince = waiting.headSince();
  }
}
