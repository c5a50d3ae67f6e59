package io.fairlead.core.plugins.flow;

import io.fairlead.plugin.UsageLimitPolicy;

/** The same for all bands. */
record StaticLimit(double threshold) implements UsageLimitPolicy {

  @Override
  public double ceiling(int band, int bands, long priority, long[] range, double saturation) {
    return threshold;
  }
}
