package io.fairlead.core.health;

import io.fairlead.core.Timeouts;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Until when a request may take, in nanoseconds, where nothing is set for it. Bounds that follow
 * from what is expected are far above it: they are there for what would never end, and a bound that
 * a queue can exceed would turn an overload into failures.
 */
public final class Deadlines {

  /** No bound. */
  public static final long NEVER = Long.MAX_VALUE;

  private static final long SECOND = 1_000_000_000;

  /** Long enough for a server that compiles its kernels at its first request. */
  private static final long LEAST_FIRST_BYTE = 60 * SECOND;

  private static final long MOST_FIRST_BYTE = 600 * SECOND;

  /** So many times what is expected is too long. */
  private static final long TIMES = 10;

  /** An answer in one piece is all of it: it may be a long one. */
  private static final long WHOLE_ANSWER = 3_600 * SECOND;

  /** A sequence that was preempted says nothing until there is room for it again. */
  private static final long SILENCE = 120 * SECOND;

  private Deadlines() {}

  /**
   * From being sent to the first byte.
   *
   * @param expected nanoseconds to the first token, as expected
   * @param streamed whether the first byte is the first token
   */
  public static long firstByte(Timeouts set, long expected, boolean streamed) {
    if (set.firstByte() != null) {
      return nanos(set.firstByte());
    }
    return streamed
        ? Math.clamp(TIMES * expected, LEAST_FIRST_BYTE, MOST_FIRST_BYTE)
        : WHOLE_ANSWER;
  }

  /** Between two bytes of an answer. */
  public static long silence(Timeouts set) {
    return set.silence() == null ? SILENCE : nanos(set.silence());
  }

  /** From arrival to the end; {@link #NEVER} where none is set. */
  public static long total(Timeouts set) {
    return nanos(set.total());
  }

  /** The time that a bound ends at; {@link #NEVER} for none. */
  public static long at(long from, long nanos) {
    return nanos == NEVER ? NEVER : from + nanos;
  }

  private static long nanos(@Nullable Duration set) {
    try {
      return set == null ? NEVER : set.toNanos();
    } catch (ArithmeticException e) {
      return NEVER; // some three hundred years
    }
  }
}
