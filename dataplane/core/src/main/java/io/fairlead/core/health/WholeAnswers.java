package io.fairlead.core.health;

/**
 * How long a pool's answers in one piece take of late: where no page tells of the tokens that an
 * endpoint computes, it may be silent for as long. Probes prove nothing then, since they stand in
 * line behind such answers. In nanoseconds.
 */
final class WholeAnswers {

  private static final long SECOND = 1_000_000_000;

  /** Nothing is known yet: so long may one take. */
  private static final long FIRST = 60 * SECOND;

  /** One that is silent for less is not out. */
  private static final long LEAST = 10 * SECOND;

  /** So many times the longest is too long. */
  private static final int TIMES = 3;

  /** What a shorter one takes off the longest. */
  private static final double FADES = 0.02;

  /** And at most off the longest answer, by the time since the one before it. */
  private static final double FADES_IN_A_SECOND = 0.005;

  /** Silence before the last fifty or so signs of life of who owed one. */
  private double longestSilence;

  /** Of the last minutes, however many there were; what it waited for its turn included. */
  private double longestOfLate;

  private long answeredAt;

  /** One was there so long after its request had been sent. */
  void answered(long now, long nanos) {
    double seconds = (double) (now - answeredAt) / SECOND;
    answeredAt = now;
    longestOfLate = faded(longestOfLate, nanos, Math.min(FADES, FADES_IN_A_SECOND * seconds));
  }

  /**
   * One that was out says something again after so long: it may have been at work on one that takes
   * longer than any of late, of which nobody would learn otherwise. Waits at most twice as long
   * from now on, as a server that froze makes nobody deaf.
   */
  void interrupted(long nanos) {
    longestOfLate = Math.max(longestOfLate, Math.min((double) nanos, 2.0 * most() / TIMES));
  }

  /** One that owes one says something after so long. */
  void spoke(long silence) {
    longestSilence = faded(longestSilence, silence, FADES);
  }

  private static double faded(double longest, long nanos, double share) {
    return Math.max((double) nanos, longest - share * (longest - nanos));
  }

  /**
   * Who owes one and says nothing for longer may be sick; 0 before any. However long the lines are:
   * they move.
   */
  long usual() {
    return (long) longestSilence;
  }

  /** Who owes one and says nothing for so long is, if it answers no probe either. */
  long most() {
    return longestOfLate == 0 ? FIRST : Math.max(LEAST, (long) (TIMES * longestOfLate));
  }
}
