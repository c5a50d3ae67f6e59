package io.fairlead.core.plugins;

/**
 * Tells when what is observed has come to lie about another level: the two-sided cumulative sum
 * test of Page (Continuous Inspection Schemes, 1954). Small deviations are forgiven, larger ones
 * are summed up until they are too many to be noise; the change was when the sum began.
 */
final class LevelChange {

  private final double slack;
  private final double limit;
  private final Side up = new Side();
  private final Side down = new Side();
  private double mean;

  /**
   * A test that has seen nothing.
   *
   * @param slack half of the least change that is looked for, in the unit of what is observed
   * @param limit sum of deviations beyond it that is no noise
   */
  LevelChange(double slack, double limit) {
    this.slack = slack;
    this.limit = limit;
  }

  private static final class Side {
    private double sum;
    private double deviations;
    private int count;

    private void forget() {
      sum = 0;
      deviations = 0;
      count = 0;
    }
  }

  /**
   * One more observation.
   *
   * @param deviation from the level that is believed in
   * @return how many of the last ones, this one among them, lie about another level; 0 for none
   */
  int observe(double deviation) {
    return observe(up, deviation, deviation)
        ? over(up)
        : observe(down, -deviation, deviation) ? over(down) : 0;
  }

  /** Mean deviation of those that {@link #observe} told of last. */
  double mean() {
    return mean;
  }

  /** Forgets what it has seen. */
  void forget() {
    up.forget();
    down.forget();
  }

  private boolean observe(Side side, double that, double deviation) {
    side.sum += that - slack;
    if (side.sum <= 0) {
      side.forget();
      return false;
    }
    side.deviations += deviation;
    side.count++;
    return side.sum > limit;
  }

  private int over(Side side) {
    int count = side.count;
    mean = side.deviations / count;
    forget();
    return count;
  }
}
