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
   * @param saturation mean saturation of the pool's endpoints, each of which counts as full at most
   * @return 0 and above; 1 is full
   */
  double ceiling(int band, int bands, long priority, long[] range, double saturation);

  /**
   * What is left of the band's ceiling for a flow of which some waits though most of what was sent
   * of late was its own, and more than its share among the flows of the band of which something
   * waits or is under way: the room above is for those who keep within theirs. It is not below the
   * ceiling of a less important band in any case.
   *
   * @param ceiling what {@link #ceiling} said for the band
   * @return 0 and above
   */
  default double ceilingOverShare(double ceiling) {
    return ceiling;
  }
}
