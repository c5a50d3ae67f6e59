package io.fairlead.core.health;

/**
 * How long a pool's endpoints are waited for of late where only the end of the wait shows that they
 * work, in nanoseconds. Of answers in one piece, where no page tells of the tokens that an endpoint
 * computes: it may be silent for as long, and probes prove nothing, since they stand in line behind
 * such answers. Of answers that have a head: their bodies may take as long to begin.
 */
final class WaitsOfLate {

  private static final long SECOND = 1_000_000_000;

  /** Nothing is known yet: so long may it take. */
  static final long FIRST = 60 * SECOND;

  /** One that is silent for less is not out. */
  private static final long LEAST = 10 * SECOND;

  /** So many times the longest is too long. */
  private static final int TIMES = 3;

  private static final int ENOUGH = 50;

  /** What a shorter one takes off the longest. */
  private static final double FADES = 0.02;

  /** And at most off the longest answer, by the time since the one before it. */
  private static final double FADES_IN_A_SECOND = 0.005;

  /** Of the last fifty or so that told. */
  private double longestNow;

  /** Of the last minutes, however many there were; what it waited for its turn included. */
  private double longestOfLate;

  private long answeredAt;

  /** How often something came. */
  private long told;

  /** What was waited for came after so long, its turn included. */
  void came(long now, long nanos) {
    double seconds = (double) (now - answeredAt) / SECOND;
    answeredAt = now;
    told++;
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

  /** One that is waited for says something after so long. */
  void spoke(long silence) {
    longestNow = faded(longestNow, silence, FADES);
  }

  private static double faded(double longest, long nanos, double share) {
    return Math.max((double) nanos, longest - share * (longest - nanos));
  }

  /**
   * Who is waited for and says nothing for longer may be sick; 0 before any. However long the lines
   * are: they move.
   */
  long usual() {
    return (long) longestNow;
  }

  /** Whether enough has come for a wait that is longer to be no chance. */
  boolean known() {
    return told >= ENOUGH;
  }

  /** Who is waited for and says nothing for so long is. */
  long most() {
    return longestOfLate == 0 ? FIRST : Math.max(LEAST, (long) (TIMES * longestOfLate));
  }
}
