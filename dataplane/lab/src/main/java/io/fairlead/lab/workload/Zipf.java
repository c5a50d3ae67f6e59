package io.fairlead.lab.workload;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Ranks from 0 on of which the k-th is drawn in proportion to 1/(k+1). */
final class Zipf {

  private final double[] upTo;

  Zipf(int ranks) {
    upTo = new double[ranks];
    double sum = 0;
    for (int k = 0; k < ranks; k++) {
      sum += 1.0 / (k + 1);
      upTo[k] = sum;
    }
  }

  int draw(SplittableRandom random) {
    double at = random.nextDouble() * upTo[upTo.length - 1];
    int found = Arrays.binarySearch(upTo, at);
    // what lies exactly on an end belongs to the next rank
    return Math.min(found < 0 ? -found - 1 : found + 1, upTo.length - 1);
  }
}
