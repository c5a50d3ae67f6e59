package io.fairlead.core;

import io.fairlead.plugin.SaturationDetector;

/**
 * Asks the config's detector how full endpoints are, whenever their account changes. What it throws
 * is kept back: events of requests must not fail for it, but the next choice does.
 */
record Fullness(SaturationDetector detector) {

  /** Nobody is ever full. */
  static final Fullness NONE = new Fullness(endpoint -> 0);

  /** 1 and above is full; NaN if the detector failed. */
  double of(EndpointState endpoint) {
    try {
      return detector.saturation(endpoint);
    } catch (RuntimeException | Error e) {
      return Double.NaN;
    }
  }
}
