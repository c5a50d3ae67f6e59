package io.fairlead.lab.simulator;

import java.util.ArrayList;
import java.util.List;

/**
 * What share a server has got in runs of one policy, its requests of all seeds taken together.
 *
 * @param right what would have been right
 * @param secondsUntilNoMore from the change to the beginning of the first {@value #WINDOW_SECONDS}
 *     s in which the share was no more than {@value #TOLERANCE} above the right one; NaN for never
 * @param secondsUntilRight the same for a share that was no further below it either
 * @param since share from the later of the two on, until something else happens; of the whole time
 *     where there was neither
 */
public record FoundShare(
    RightShare right, double secondsUntilNoMore, double secondsUntilRight, double since) {

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
    int noMore = -1;
    int within = -1;
    for (int at = from; at + window <= until && within < 0; at++) {
      double off = share(right.server(), runs, at, at + window) / right.share() - 1;
      noMore = noMore < 0 && off <= TOLERANCE ? at : noMore;
      within = Math.abs(off) <= TOLERANCE ? at : within;
    }
    double since = share(right.server(), runs, Math.max(from, within < 0 ? noMore : within), until);
    return new FoundShare(right, seconds(noMore, step, right), seconds(within, step, right), since);
  }

  private static double seconds(int at, double step, RightShare right) {
    return at < 0 ? Double.NaN : Math.max(0, at * step - right.from());
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
