package io.fairlead.core.flow;

/**
 * How much may wait.
 *
 * @param requests most requests
 * @param bytes most bytes of their bodies
 */
public record Limits(long requests, long bytes) {

  /** As much as comes. */
  public static final Limits NONE = new Limits(Long.MAX_VALUE, Long.MAX_VALUE);

  public Limits {
    if (requests < 0 || bytes < 0) {
      throw new IllegalArgumentException("requests " + requests + ", bytes " + bytes + ": below 0");
    }
  }

  boolean allow(long waiting, long waitingBytes) {
    return waiting <= requests && waitingBytes <= bytes;
  }
}
