package io.fairlead.lab.peers;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import java.util.function.IntPredicate;
import java.util.function.IntToDoubleFunction;

/** Choices by a number per candidate. */
final class Loads {

  private static final long PURPOSE = 0x7065_6572;

  private Loads() {}

  /** The first candidate of those with the fewest requests in flight. */
  static int firstLeast(Candidates candidates) {
    int best = 0;
    for (int i = 1; i < candidates.size(); i++) {
      if (candidates.get(i).inFlight() < candidates.get(best).inFlight()) {
        best = i;
      }
    }
    return best;
  }

  /** One of those candidates with the least number, each as likely; -1 when there is none. */
  static int anyLeast(
      InferenceRequest request, int size, IntPredicate eligible, IntToDoubleFunction number) {
    int best = -1;
    int ties = 0;
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < size; i++) {
      if (!eligible.test(i)) {
        continue;
      }
      double value = number.applyAsDouble(i);
      if (best < 0 || value < least) {
        best = i;
        least = value;
        ties = 1;
      } else if (value == least && request.draw(PURPOSE + i, ++ties) == 0) {
        best = i;
      }
    }
    return best;
  }
}
