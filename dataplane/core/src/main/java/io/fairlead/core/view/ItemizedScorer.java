package io.fairlead.core.view;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Scorer;
import java.util.List;

/**
 * A scorer that scores by a cost, and can say what that is the sum of. Asked right after a call of
 * {@link #score}, with the same request and candidates, and for few of them.
 */
public interface ItemizedScorer extends Scorer {

  /** The terms of every cost, in the order in which {@link #itemize} fills them in. */
  List<CostTerm> costTerms();

  /**
   * Fills in what a candidate costs: the sum of each term's time times its weight. All of both are
   * filled in, since the arrays hold those of another candidate.
   *
   * @param millis the time of each term, in milliseconds
   * @param weights what a millisecond of it counts
   */
  void itemize(
      InferenceRequest request,
      Candidates candidates,
      int index,
      double[] millis,
      double[] weights);

  /** Why the candidate that scored best did, where that is not its cost alone; else empty. */
  String preference();
}
