package io.fairlead.plugin;

/**
 * Says how full an endpoint is. Asked when the endpoint's account or what was scraped of it
 * changes, and some ten times a second: not for each request.
 */
public non-sealed interface SaturationDetector extends Plugin {

  /**
   * 0 is idle, 1 and above is full: no request goes there that may wait or be refused for it. Never
   * negative or NaN.
   */
  double saturation(Endpoint endpoint);
}
