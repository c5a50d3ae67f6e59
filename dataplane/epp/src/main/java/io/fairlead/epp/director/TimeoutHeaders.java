package io.fairlead.epp.director;

import io.fairlead.core.Timeouts;
import io.fairlead.crds.config.GoDuration;
import io.fairlead.crds.config.TimeoutsConfig;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The headers by which a request sets its own bounds in time, as durations in Go's syntax. One that
 * is there twice and says two things says nothing: one of them may be the client's, beside what a
 * gateway put in. They are for the picker alone: no endpoint gets them.
 */
final class TimeoutHeaders {

  static final String FIRST_BYTE = "x-fairlead-timeout-first-byte";
  static final String SILENCE = "x-fairlead-timeout-silence";
  static final String TOTAL = "x-fairlead-timeout-total";

  private TimeoutHeaders() {}

  /**
   * What the headers say.
   *
   * @param trusted whether they count
   * @param ignored told why, for each that is there and does not count
   */
  static Timeouts read(ReceivedHeaders headers, boolean trusted, Consumer<String> ignored) {
    Duration firstByte = read(headers, FIRST_BYTE, trusted, ignored);
    Duration silence = read(headers, SILENCE, trusted, ignored);
    Duration total = read(headers, TOTAL, trusted, ignored);
    return firstByte == null && silence == null && total == null
        ? Timeouts.UNSET
        : new Timeouts(firstByte, silence, total);
  }

  private static @Nullable Duration read(
      ReceivedHeaders headers, String name, boolean trusted, Consumer<String> ignored) {
    String text = headers.first(name);
    if (text == null) {
      return null;
    }
    if (!trusted) {
      ignored.accept("untrusted");
      return null;
    }
    Duration value = headers.contradicts(name) ? null : GoDuration.parse(text.strip());
    if (value == null || !value.isPositive() || value.compareTo(TimeoutsConfig.LONGEST) > 0) {
      ignored.accept("invalid");
      return null;
    }
    return value;
  }
}
