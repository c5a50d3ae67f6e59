package io.fairlead.core.plugins.flow;

import io.fairlead.plugin.UsageLimitPolicy;

/**
 * The fuller the pool, the less of it is for what is less important: band {@code i} of {@code n}
 * ends at {@code 1 - i s / (n - 1)} for a mean saturation {@code s}. What upstream does beyond
 * that, to open a band now and then, a band's floor does here.
 */
final class SoftReflectiveLimit implements UsageLimitPolicy {

  @Override
  public double ceiling(int band, int bands, long priority, long[] range, double saturation) {
    return bands < 2 ? 1 : 1 - band * Math.min(1, saturation) / (bands - 1);
  }
}
