package io.fairlead.core.receipt;

/**
 * What receipts keep of endpoints, side by side, by place: an endpoint writes itself whenever its
 * account changes, so that a decision copies arrays and looks at no object.
 */
public final class EndpointTable {

  /** Share of the KV cache in use as scraped last; NaN when unknown. */
  final double[] kvUsage;

  /** How full each is, where 1 is full; NaN where nobody can say. */
  final double[] saturation;

  /** Requests in flight, and those of them without a first token, as two numbers. */
  final long[] sent;

  /** Requests waiting and running as scraped last. */
  final long[] scraped;

  /** Requests that are said or assumed to wait there, and prompts in line of this picker. */
  final long[] queued;

  /** Prompt tokens of the requests in flight. */
  final long[] tokens;

  /** Uncached tokens of the prompts in line. */
  final long[] prefillTokens;

  /** When the scrape was begun that is known of it; {@link Long#MIN_VALUE} for none. */
  final long[] scrapedAt;

  /** Whether some endpoint has LoRA adapters, or numbers that the config asks for. */
  private boolean some;

  /**
   * A table to be filled.
   *
   * @param kvUsage by place, kept by another
   * @param saturation by place, kept by another
   */
  public EndpointTable(double[] kvUsage, double[] saturation) {
    this.kvUsage = kvUsage;
    this.saturation = saturation;
    int places = kvUsage.length;
    sent = new long[places];
    scraped = new long[places];
    queued = new long[places];
    tokens = new long[places];
    prefillTokens = new long[places];
    scrapedAt = new long[places];
  }

  /** Writes what is in flight, sent from here or by pickers that tell of theirs. */
  public void sent(
      int place,
      int inFlight,
      int awaitingFirstToken,
      long inFlightTokens,
      int prefills,
      long uncachedTokens,
      int saidToWait) {
    sent[place] = Words.pair(inFlight, awaitingFirstToken);
    queued[place] = Words.pair(saidToWait, prefills);
    tokens[place] = inFlightTokens;
    prefillTokens[place] = uncachedTokens;
  }

  /**
   * Writes what was scraped.
   *
   * @param more whether it has adapters, or numbers that the config asks for
   */
  public void scraped(int place, int waiting, int running, long begunAt, boolean more) {
    scraped[place] = Words.pair(waiting, running);
    scrapedAt[place] = begunAt;
    some |= more;
  }

  /** Whether any endpoint has more than numbers that all have. */
  boolean hasMore() {
    return some;
  }
}
