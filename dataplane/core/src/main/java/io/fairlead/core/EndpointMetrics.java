package io.fairlead.core;

/**
 * One scrape of a model server. Unknown stays unknown: -1, or NaN for the usage.
 *
 * @param waiting requests in the server's queue
 * @param running requests in its batch
 * @param kvUsage share of the KV cache in use, 0 to 1
 * @param blockSize tokens per KV block
 * @param blocks KV blocks in all
 */
public record EndpointMetrics(int waiting, int running, double kvUsage, int blockSize, int blocks) {

  /** Nothing could be read. */
  public static final EndpointMetrics UNKNOWN = new EndpointMetrics(-1, -1, Double.NaN, -1, -1);
}
