package io.fairlead.core.health;

import io.fairlead.core.HealthState;

/**
 * Answers that say no, one after the other, at each endpoint of a pool: that a request is invalid,
 * or an error. One client may ask for nothing else, at whoever holds the beginning of its prompts;
 * so a row tells of its endpoint only by what the others say, and by the rows that they have next.
 */
final class NegativeRows {

  private static final long SECOND = 1_000_000_000;

  /** Longer ones may tell of their endpoint. */
  private static final int SHORT = 3;

  /** Errors that tell of it without anything that is served meanwhile. */
  private static final int LONG_OF_ERRORS = 10;

  /**
   * So many of each row count in the share of them: whoever says nothing else does so at once, and
   * it would be usual in the end.
   */
  private static final int COUNTED = 8;

  /** Chance that explains nothing any more. */
  private static final double BY_CHANCE = 1e-5;

  /** The same of one on trial, which has shown the like before and will be tried again. */
  private static final double BY_CHANCE_ON_TRIAL = 0.05;

  /** A row at an endpoint that serves counts for so long. */
  private static final long COUNTS = 60 * SECOND;

  /** Longer than the longest of those by so much, a row is not of a client's making. */
  private static final int TIMES_LONGEST = 2;

  /** The longest row of late at an endpoint that served then, and when it did. */
  private int longest;

  private long longestAt;

  /** When the newest request was sent that an endpoint has begun to serve. */
  private long servedSentAt;

  /** The endpoint says no once more. */
  void add(long now, EndpointHealth endpoint) {
    if (endpoint.noInRow == 0) {
      endpoint.noSince = now;
    }
    endpoint.noInRow++;
    if (endpoint.noInRow <= COUNTED) {
      endpoint.noShare.add(1);
    }
  }

  /** What it said no to once was the request's fault. */
  void takeBack(EndpointHealth endpoint) {
    endpoint.noInRow = Math.max(0, endpoint.noInRow - 1);
  }

  /** The endpoint has served a request. */
  void end(EndpointHealth endpoint) {
    endpoint.noInRow = 0;
    endpoint.noShare.add(0);
  }

  /** An endpoint serves a request that was sent then. */
  void serves(long sentAt) {
    if (sentAt - servedSentAt > 0) {
      servedSentAt = sentAt;
    }
  }

  /** Whether the endpoint's row is long, and to serve what was sent then ends it. */
  boolean isEndedBy(EndpointHealth endpoint, long sentAt) {
    return endpoint.noInRow > SHORT && sentAt - endpoint.noSince > 0;
  }

  /** Whether the endpoint says no to all, so that it is to blame. */
  boolean blame(long now, EndpointHealth endpoint, EndpointHealth[] all) {
    return endpoint.noInRow > SHORT
        && servedMeanwhile(endpoint)
        && isLongerThanClients(now, endpoint)
        && Math.pow(usual(endpoint, all), endpoint.noInRow) < BY_CHANCE;
  }

  /** The same of errors alone, of which many tell whatever is served meanwhile. */
  boolean blameForErrors(long now, EndpointHealth endpoint, EndpointHealth[] all) {
    return (endpoint.noInRow >= LONG_OF_ERRORS && isLongerThanClients(now, endpoint))
        || blame(now, endpoint, all);
  }

  /**
   * Whether one that says no once more on trial is still to blame: where most requests are mistakes
   * that shows nothing yet.
   */
  boolean blameOnTrial(EndpointHealth endpoint, EndpointHealth[] all) {
    endpoint.noOnTrial++;
    return Math.pow(usual(endpoint, all), endpoint.noOnTrial) < BY_CHANCE_ON_TRIAL;
  }

  /** Share of answers that say no at the others in use; 1 without others. */
  double usual(EndpointHealth endpoint, EndpointHealth[] all) {
    double sum = 0;
    int others = 0;
    for (EndpointHealth other : all) {
      if (other != endpoint && other.state == HealthState.IN_USE) {
        sum += other.noShare.mean();
        others++;
      }
    }
    return others == 0 ? 1 : sum / others;
  }

  /** Whether a request was served that was sent since the endpoint's row began. */
  boolean servedMeanwhile(EndpointHealth endpoint) {
    return servedSentAt - endpoint.noSince > 0;
  }

  /** The endpoint serves again what it is asked: its row was of a client's making. */
  void ofClient(long now, EndpointHealth endpoint) {
    if (endpoint.noInRow >= longest(now)) {
      longest = endpoint.noInRow;
      longestAt = now;
    }
  }

  /**
   * Whether what another is blamed for is no more than this row, which was of a client's making.
   */
  boolean excuses(EndpointHealth row, EndpointHealth other) {
    return other.noInRow <= TIMES_LONGEST * row.noInRow;
  }

  /** Nobody served anything for as long: what all of them say is nobody's fault. */
  void forgetCommon(EndpointHealth[] all) {
    for (EndpointHealth endpoint : all) {
      if (endpoint.state == HealthState.IN_USE && !servedMeanwhile(endpoint)) {
        endpoint.noInRow = 0;
      }
    }
  }

  private boolean isLongerThanClients(long now, EndpointHealth endpoint) {
    return endpoint.noInRow > TIMES_LONGEST * longest(now);
  }

  private int longest(long now) {
    return now - longestAt < COUNTS ? longest : 0;
  }
}
