package io.fairlead.core.scheduling;

import io.fairlead.core.view.PoolCandidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Scorer;

/**
 * Is told how a decision comes about while it does. What it is passed is the scheduler's own, and
 * changes afterwards.
 */
public interface DecisionRecorder {

  /**
   * A profile begins.
   *
   * @param profile its number in {@link Scheduler#outline}
   * @param request the candidates are those of
   */
  void profile(int profile, InferenceRequest request);

  /**
   * A filter has looked, of all candidates that were left.
   *
   * @param keep false for those that go
   */
  void filtered(int filter, Left left, boolean[] keep);

  /** A scorer has scored the candidates that were left: from 0 to 1, whatever it said. */
  void scored(int number, Scorer scorer, Left left, double[] scores);

  /** The picker has chosen the first {@code count} of {@code picked}, best first. */
  void picked(Left left, double[] sums, int[] picked, int count);

  /**
   * A scheduler outside of the process has chosen, in the place of scorers and picker.
   *
   * @param scores its own, of any size; negative infinity where it named nobody
   * @param picked the first is who was chosen
   */
  void advised(Left left, double[] scores, int[] picked);

  /** The candidates that the filters have left so far. */
  interface Left {

    /** As the next plugin sees them. */
    PoolCandidates candidates();

    /** Which of the request's candidates one of them is. */
    int origin(int index);
  }
}
