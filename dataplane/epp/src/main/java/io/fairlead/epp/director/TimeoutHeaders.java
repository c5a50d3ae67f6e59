package io.fairlead.epp.director;

import io.fairlead.core.RequestHeaders;
import io.fairlead.core.Timeouts;
import io.fairlead.crds.config.GoDuration;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A request's own bounds in time, as its headers say them: durations such as {@code 1m30s}. What is
 * none, or not above 0, says nothing. Read only where the pool trusts its clients, and never sent
 * on.
 */
public final class TimeoutHeaders {

  /** What the names of these headers begin with, in lower case. */
  public static final String PREFIX = "x-fairlead-timeout-";

  private TimeoutHeaders() {}

  static Timeouts read(RequestHeaders headers) {
    Duration firstByte = duration(headers.first(PREFIX + "first-byte"));
    Duration silence = duration(headers.first(PREFIX + "silence"));
    Duration total = duration(headers.first(PREFIX + "total"));
    return firstByte == null && silence == null && total == null
        ? Timeouts.UNSET
        : new Timeouts(firstByte, silence, total);
  }

  private static @Nullable Duration duration(@Nullable String value) {
    Duration read = value == null ? null : GoDuration.parse(value);
    return read == null || read.isNegative() || read.isZero() ? null : read;
  }
}
