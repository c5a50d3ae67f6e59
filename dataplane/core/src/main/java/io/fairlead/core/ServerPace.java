package io.fairlead.core;

/**
 * How much work a server of the pool does in a second, of late: what requests were that ended, by
 * the time in which servers had any. While requests wait, all have, so it is what a further server
 * would do.
 */
final class ServerPace {

  /** Tokens a second of a server before any request has ended. */
  static final double ASSUMED = 1_000;

  private static final double SECOND = 1e9;

  /** Over so many nanoseconds it is averaged. */
  private static final double WINDOW = 60 * SECOND;

  /** The assumed pace weighs as much as a server's work of so many seconds. */
  private static final double ASSUMED_SECONDS = 1;

  private static final double LEAST = 1e-3;

  private double work = ASSUMED * ASSUMED_SECONDS;
  private double busySeconds = ASSUMED_SECONDS;
  private double requests;
  private double stays;
  private long at = Long.MIN_VALUE;

  /**
   * A request is over.
   *
   * @param tokens of work that it was
   * @param stay nanoseconds for which it was at its server; below 0 where nobody knows
   */
  void ended(double tokens, long stay) {
    work += tokens;
    if (stay >= 0) {
      requests++;
      stays += stay;
    }
  }

  /** Time has moved on, while so many servers had work. */
  void tick(long now, int busy) {
    long before = at;
    at = now;
    if (before == Long.MIN_VALUE || now <= before || busy == 0) {
      return; // an idle pool forgets nothing
    }
    double fade = Math.exp(-(now - before) / WINDOW);
    work *= fade;
    requests *= fade;
    stays *= fade;
    busySeconds = busySeconds * fade + busy * (now - before) / SECOND;
  }

  /** Nanoseconds for which a request is at its server in the mean; 0 before any has ended. */
  double stay() {
    return requests > 0 ? stays / requests : 0;
  }

  /** Tokens that a busy server does in a second; above 0. */
  double tokensPerSecond() {
    return Math.max(LEAST, work / busySeconds);
  }
}
