package io.fairlead.core.plugins.flow;

import io.fairlead.plugin.UsageLimitPolicy;

/**
 * Holds room back for what is more important: the least important band ends at the lowest ceiling,
 * the most important one at the highest, and those between them on a line.
 *
 * @param byValue whether priorities make the line, or else the order of the bands
 * @param overShare what is left of it for a flow that has more than its share
 */
record HoldbackLimit(boolean byValue, double least, double most, double overShare)
    implements UsageLimitPolicy {

  @Override
  public double ceiling(int band, int bands, long priority, long[] range, double saturation) {
    if (bands < 2) {
      return most;
    }
    double highest = range[0];
    double lowest = range[bands - 1];
    double share = byValue ? (highest - priority) / (highest - lowest) : band / (bands - 1.0);
    return most - share * (most - least);
  }

  @Override
  public double ceilingOverShare(double ceiling) {
    return ceiling * overShare;
  }
}
