package io.fairlead.lab.simulator;

import java.util.List;

/**
 * What became of a run in which something happened. Requests of the warm-up count too.
 *
 * @param secondsUntilRight from the first event to the arrival of the last request that failed; 0
 *     when none failed after it, NaN in a run without events
 * @param failures requests that arrived, and those of them that failed, in stretches of 10 s
 * @param sends requests sent to each server, in each stretch of time
 * @param out servers that get no requests, over time, by picker
 * @param mostOut most servers that a picker has left out at once, but for those it had to use
 *     nevertheless
 * @param healthChanges how often a picker used a server otherwise than before
 * @param rightShares what events make right of what servers get
 */
public record Disruption(
    double secondsUntilRight,
    TimeSeries failures,
    TimeSeries sends,
    TimeSeries out,
    int mostOut,
    long healthChanges,
    List<RightShare> rightShares) {

  private static final TimeSeries NOTHING = new TimeSeries(0, List.of());

  /** Nothing happened. */
  public static final Disruption NONE =
      new Disruption(Double.NaN, NOTHING, NOTHING, NOTHING, 0, 0, List.of());

  public Disruption {
    rightShares = List.copyOf(rightShares);
  }
}
