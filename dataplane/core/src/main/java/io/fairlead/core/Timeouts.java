package io.fairlead.core;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Bounds in time on a request; null where nothing is said, and the next one who says something
 * counts: the request, its model, the pool, and last what the core works out.
 *
 * @param firstByte from being sent to the first byte of the answer
 * @param silence between two bytes of the answer
 * @param total from arrival to the end of the answer
 */
public record Timeouts(
    @Nullable Duration firstByte, @Nullable Duration silence, @Nullable Duration total) {

  /** Nothing is said. */
  public static final Timeouts UNSET = new Timeouts(null, null, null);

  public Timeouts {
    check("firstByte", firstByte);
    check("silence", silence);
    check("total", total);
  }

  private static void check(String field, @Nullable Duration value) {
    if (value != null && (value.isNegative() || value.isZero())) {
      throw new IllegalArgumentException(field + " is " + value + "; set more than 0");
    }
  }

  private boolean isUnset() {
    return firstByte == null && silence == null && total == null;
  }

  /** What this says, and where it says nothing, what the other does. */
  public Timeouts or(Timeouts other) {
    if (isUnset()) {
      return other;
    }
    if (other.isUnset()) {
      return this;
    }
    return new Timeouts(
        firstByte == null ? other.firstByte : firstByte,
        silence == null ? other.silence : silence,
        total == null ? other.total : total);
  }
}
