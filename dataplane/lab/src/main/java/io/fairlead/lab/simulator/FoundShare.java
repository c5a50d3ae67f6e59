package io.fairlead.lab.simulator;

import java.util.ArrayList;
import java.util.List;

/**
 * What share a server has got in runs of one policy, its requests of all seeds taken together.
 *
 * @param right what would have been right
 * @param secondsUntilRight from the change to the beginning of the first {@value #WINDOW_SECONDS} s
 *     in which the share was within {@value #TOLERANCE} of the right one; NaN for never
 * @param since share from then on, until something else happens; of the whole time where it was
 *     never right
 */
public record FoundShare(RightShare right, double secondsUntilRight, double since) {

  /** How long is looked at at once, s. */
  public static final double WINDOW_SECONDS = 10;

  /** How far a share may be off, as a share of it. */
  public static final double TOLERANCE = 0.2;

  /**
   * What runs have shown.
   *
   * @param runs of one policy on one workload, one a seed
   */
  public static List<FoundShare> of(List<RunResult> runs) {
    List<FoundShare> found = new ArrayList<>();
    for (RightShare right : runs.getFirst().disruption().rightShares()) {
      found.add(of(right, runs));
    }
    return found;
  }

  private static FoundShare of(RightShare right, List<RunResult> runs) {
    double step = runs.getFirst().disruption().sends().stepSeconds();
    int from = (int) Math.ceil(right.from() / step - 1e-9);
    int until = (int) Math.floor(right.until() / step + 1e-9);
    int window = Math.max(1, (int) Math.round(WINDOW_SECONDS / step));
    for (int at = from; at + window <= until; at++) {
      double share = share(right.server(), runs, at, at + window);
      if (Math.abs(share / right.share() - 1) <= TOLERANCE) {
        double seconds = Math.max(0, at * step - right.from());
        return new FoundShare(right, seconds, share(right.server(), runs, at, until));
      }
    }
    return new FoundShare(right, Double.NaN, share(right.server(), runs, from, until));
  }

  private static double share(String server, List<RunResult> runs, int from, int to) {
    double all = 0;
    double its = 0;
    for (RunResult run : runs) {
      for (TimeSeries.Line line : run.disruption().sends().lines()) {
        double sum = 0;
        for (int i = from; i < Math.min(to, line.values().size()); i++) {
          sum += line.values().get(i);
        }
        all += sum;
        its += line.name().equals(server) ? sum : 0;
      }
    }
    return its / all;
  }
}
