package io.fairlead.plugin;

/** The endpoints that one request may still go to. Valid only during the call it is passed to. */
public interface Candidates {

  int size();

  /** Candidate {@code index}, from 0 to {@code size() - 1}. */
  Endpoint get(int index);

  /**
   * How many leading blocks of the request's prompt this candidate's KV cache is believed to hold;
   * from 0 to {@link InferenceRequest#blockCount()}. Computed once per request, on first use.
   */
  int matchedBlocks(int index);

  /**
   * How many tokens of the prompt that is: {@code matchedBlocks} in proportion of the prompt's
   * estimated length, less one if all of it is matched, as engines always compute the last token.
   */
  int cachedTokens(int index);

  /** The same as {@code get(index).queueDepth()}, faster for one who needs nothing else. */
  default int queueDepth(int index) {
    return get(index).queueDepth();
  }

  /** The same as {@code get(index).kvUsage()}, faster for one who needs nothing else. */
  default double kvUsage(int index) {
    return get(index).kvUsage();
  }

  /** The same as {@code get(index).slot()}, faster for one who needs nothing else. */
  default int slot(int index) {
    return get(index).slot();
  }

  /** Fills {@code into} with {@link #cachedTokens(int)} of each candidate, faster. */
  default void cachedTokens(double[] into) {
    for (int i = 0; i < size(); i++) {
      into[i] = cachedTokens(i);
    }
  }

  /**
   * How many endpoints the pool has, candidates or not. Each has a place of its own, from 0 to
   * {@code places() - 1}.
   */
  default int places() {
    return size();
  }

  /** The place of a candidate's endpoint; a later candidate has a higher one. */
  default int place(int index) {
    return index;
  }

  /**
   * For a scorer that keeps something worked out for each endpoint: tells it of every place where
   * {@link Workload} says something else than when it last asked, or another endpoint is now.
   * Places may be told twice, and ones where nothing is new; all are told when too much has
   * changed.
   *
   * @param since what this returned last, to the same scorer; 0 at first
   * @return to be passed the next time
   */
  default long changes(long since, Changed to) {
    for (int i = 0; i < size(); i++) {
      to.changed(i, get(i));
    }
    return 0;
  }

  /** Is told which endpoint to look at anew. */
  @FunctionalInterface
  interface Changed {

    /** The endpoint that is in this place. */
    void changed(int place, Endpoint endpoint);
  }
}
