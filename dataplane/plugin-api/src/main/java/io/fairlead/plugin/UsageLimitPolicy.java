package io.fairlead.plugin;

/** Says how full endpoints may be for the requests of a priority band. */
public non-sealed interface UsageLimitPolicy extends Plugin {

  /**
   * The saturation from which on an endpoint gets no requests of the band.
   *
   * @param band number of the band, 0 is the most important
   * @param bands how many bands there are
   * @param priority of the band
   * @param range the priorities of all bands, the most important first
   * @param saturation mean saturation of the pool's endpoints
   * @return 0 and above; 1 is full
   */
  double ceiling(int band, int bands, long priority, long[] range, double saturation);
}
