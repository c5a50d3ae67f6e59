package io.fairlead.epp.status;

/**
 * How soon an endpoint answered lately.
 *
 * @param requests first tokens in the window
 * @param ttftP50Millis half of them came sooner; NaN without any
 * @param ttftP99Millis 99 of 100 came sooner; NaN without any
 */
public record EndpointLatency(long requests, double ttftP50Millis, double ttftP99Millis) {

  /** Nothing was measured. */
  public static final EndpointLatency NONE = new EndpointLatency(0, Double.NaN, Double.NaN);
}
