package io.fairlead.core.view;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;

/**
 * Candidates with their columns: the same numbers as those of the endpoints, found without looking
 * at one object after the other. Every {@link Candidates} that a plugin is passed is one.
 *
 * <p>Each of the pool's endpoints, candidate or not, has a place in them.
 */
public interface PoolCandidates extends Candidates {

  /** The columns of the candidates that a plugin is passed. */
  static PoolCandidates of(Candidates candidates) {
    return (PoolCandidates) candidates;
  }

  /** The same as {@link Endpoint#queueDepth()} of a candidate. */
  int queueDepth(int index);

  /** The same as {@link Endpoint#kvUsage()} of a candidate. */
  double kvUsage(int index);

  /** The same as {@link PoolEndpoint#slot()} of a candidate. */
  int slot(int index);

  /**
   * Fills {@code into} with {@link #cachedTokens(int)} of each candidate.
   *
   * @param into at least {@link #size()} long
   */
  void cachedTokens(double[] into);

  /** Pickers that share the pool, this one counted. */
  int replicas();

  /**
   * How many times as many requests go to the pool as are known of here, if each picker gets as
   * many: as many as pickers share it where each knows only what it has sent itself, 1 where all
   * others tell of theirs.
   */
  double timesKnown();

  /**
   * How likely a context that rests in a cache, see {@link PoolEndpoint#restingTokens()}, is to be
   * gone on with; from 0 to 1.
   */
  double goesOn();

  /**
   * How likely a block that a cache of the pool stores drives out one that is asked for again when
   * nobody has it any more; from 0 to 1.
   */
  double ghostHits();

  /**
   * How many endpoints the pool has, candidates or not. Each has a place of its own, from 0 to
   * {@code places() - 1}.
   */
  int places();

  /** The place of a candidate's endpoint; a later candidate has a higher one. */
  int place(int index);

  /**
   * For a scorer that keeps something worked out for each endpoint: tells it of every place where
   * the requests in flight, the sizes, the scraped queue, the adapters or the risk are others than
   * when it last asked, or another endpoint is now. Places may be told twice, and ones where
   * nothing is new; all are told when too much has changed.
   *
   * @param since what this returned last, to the same scorer; 0 at first
   * @return to be passed the next time
   */
  long changes(long since, Changed to);

  /** Is told which endpoint to look at anew. */
  @FunctionalInterface
  interface Changed {

    /** The endpoint that is in this place. */
    void changed(int place, Endpoint endpoint);
  }
}
