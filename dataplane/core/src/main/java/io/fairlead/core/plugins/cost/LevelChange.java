package io.fairlead.core.plugins.cost;

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
  private double found;

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
    private double values;
    private int count;

    private void forget() {
      sum = 0;
      values = 0;
      count = 0;
    }
  }

  /**
   * One more observation.
   *
   * @param value what was observed
   * @param level about which it should lie
   * @return how many of the last ones, this one among them, lie about another level; 0 for none
   */
  int observe(double value, double level) {
    boolean higher = observe(up, value - level, value);
    boolean lower = observe(down, level - value, value);
    return higher ? over(up) : lower ? over(down) : 0;
  }

  /** The level of those that {@link #observe} told of last: their mean. */
  double level() {
    return found;
  }

  /** Forgets what it has seen. */
  void forget() {
    up.forget();
    down.forget();
  }

  private boolean observe(Side side, double beyond, double value) {
    side.sum += beyond - slack;
    if (side.sum <= 0) {
      side.forget();
      return false;
    }
    side.values += value;
    side.count++;
    return side.sum > limit;
  }

  private int over(Side side) {
    int count = side.count;
    found = side.values / count;
    forget();
    return count;
  }
}
