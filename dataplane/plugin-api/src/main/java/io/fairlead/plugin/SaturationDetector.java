package io.fairlead.plugin;

/** Says how full an endpoint is. */
public non-sealed interface SaturationDetector extends Plugin {

  /**
   * 0 is idle, 1 and above is full: sheddable requests no longer go there. Never negative or NaN.
   */
  double saturation(Endpoint endpoint);
}
