package io.fairlead.core.plugins.load;

/** What several scorers do to their numbers. */
final class Scores {

  private Scores() {}

  /**
   * Replaces values by {@code (max - value) / (max - min)}: 1 for the lowest, 0 for the highest, 1
   * for all when they are equal. All must be finite.
   */
  static void preferLow(double[] values, int size) {
    double min = Double.POSITIVE_INFINITY;
    double max = Double.NEGATIVE_INFINITY;
    for (int i = 0; i < size; i++) {
      min = Math.min(min, values[i]);
      max = Math.max(max, values[i]);
    }
    double range = max - min;
    for (int i = 0; i < size; i++) {
      values[i] = range > 0 ? (max - values[i]) / range : 1;
    }
  }
}
