package io.fairlead.crds.config;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Durations in Go's syntax, e.g. {@code 1h15m30.5s}. */
public final class GoDuration {

  private static final Pattern WHOLE =
      Pattern.compile("[+-]?(0|((\\d+\\.?\\d*|\\.\\d+)(ns|us|µs|μs|ms|s|m|h))+)");
  private static final Pattern PART =
      Pattern.compile("(\\d+\\.?\\d*|\\.\\d+)(ns|us|µs|μs|ms|s|m|h)");
  private static final int LONGEST_TEXT = 100;
  private static final Map<String, Long> NANOS =
      Map.of(
          "ns",
          1L,
          "us",
          1_000L,
          "µs",
          1_000L,
          "μs",
          1_000L,
          "ms",
          1_000_000L,
          "s",
          1_000_000_000L,
          "m",
          60_000_000_000L,
          "h",
          3_600_000_000_000L);

  private GoDuration() {}

  /** The duration, cut to nanoseconds; null when the text is none or it is out of Go's range. */
  public static @Nullable Duration parse(String text) {
    if (text.length() > LONGEST_TEXT || !WHOLE.matcher(text).matches()) {
      return null;
    }
    BigDecimal sum = BigDecimal.ZERO;
    Matcher parts = PART.matcher(text);
    while (parts.find()) {
      String number = parts.group(1);
      sum =
          sum.add(
              new BigDecimal(number.endsWith(".") ? number + "0" : number)
                  .multiply(BigDecimal.valueOf(NANOS.getOrDefault(parts.group(2), 0L))));
    }
    if (sum.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) > 0) {
      return null;
    }
    long nanos = sum.longValue();
    return Duration.ofNanos(text.startsWith("-") ? -nanos : nanos);
  }

  /** The shortest text of one unit that means the same. */
  public static String format(Duration duration) {
    long nanos = duration.toNanos();
    if (nanos % 1_000_000_000 == 0) {
      return nanos / 1_000_000_000 + "s";
    }
    return nanos % 1_000_000 == 0 ? nanos / 1_000_000 + "ms" : nanos + "ns";
  }
}
