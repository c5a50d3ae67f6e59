package io.fairlead.cli.demo;

/**
 * One line of the live table.
 *
 * @param endpoint name
 * @param inFlight requests sent and not ended
 * @param queue requests that wait there
 * @param kvUsage share of the KV cache in use, NaN when unknown
 * @param sent requests sent to it
 * @param prefixHit share of prompt blocks believed cached when sent, NaN when none were sent
 * @param ttftP50Millis median time to first token, NaN when none came
 * @param ttftP99Millis its tail, NaN when none came
 */
record EndpointRow(
    String endpoint,
    int inFlight,
    int queue,
    double kvUsage,
    long sent,
    double prefixHit,
    double ttftP50Millis,
    double ttftP99Millis) {

  /** Whether a request runs or waits there, as far as is known. */
  boolean busy() {
    return inFlight > 0 || queue > 0;
  }
}
