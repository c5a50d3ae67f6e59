package io.fairlead.core.flow;

/**
 * Which part of a flow's requests that are told when to come again do: of places that are kept for
 * clients who never come, none is to make others wait.
 */
final class Returners {

  /** The least part, as it may change: else all that are refused would be told the same time. */
  static final double LEAST = 0.05;

  /** Who has not come so many seconds after it was told to is not expected any more. */
  private static final int GRACE = 2;

  /**
   * What was so many of them ago counts for a third, however long that is: clients stay as they
   * are.
   */
  private static final double MEMORY = 500;

  /** As if so many had come, before any is due. */
  private static final double KNOWN = 2;

  /** More than from the first that is expected still to the last that was told a time. */
  private static final int SECONDS = 128;

  private static final long SECOND = 1_000_000_000;

  /** Those that are expected, by the second. */
  private final int[] due = new int[SECONDS];

  /** Nobody is expected of the seconds before this one. */
  private long first = Long.MIN_VALUE;

  private double came;
  private double missing;

  private static int slot(long second) {
    return (int) (second & (SECONDS - 1));
  }

  private static long second(long time) {
    return Math.floorDiv(time, SECOND);
  }

  private void advance(long now) {
    long next = second(now) - GRACE;
    if (first == Long.MIN_VALUE) {
      first = next;
    }
    long passed = next - first;
    if (passed <= 0) {
      return;
    }
    for (long second = Math.max(first, next - SECONDS); second < next; second++) {
      int none = due[slot(second)];
      fade(none);
      missing += none;
      due[slot(second)] = 0;
    }
    first = next;
  }

  private void fade(int known) {
    double fade = Math.exp(-known / MEMORY);
    came *= fade;
    missing *= fade;
  }

  /** One was told to come at this time, {@link FlowQueue#LATEST} from now or sooner. */
  void told(long now, long time) {
    advance(now);
    due[slot(second(time))]++;
  }

  /** One that was told this time came, then or later. */
  void came(long now, long time) {
    advance(now);
    fade(1);
    came++;
    if (second(time) >= first) {
      due[slot(second(time))]--;
    } else {
      missing = Math.max(0, missing - 1);
    }
  }

  /** Of all that are due of late, {@link #LEAST} to 1. */
  double share(long now) {
    advance(now);
    return Math.max(LEAST, (came + KNOWN) / (came + KNOWN + missing));
  }
}
