package io.fairlead.core.health;

/**
 * How often requests may be sent again: a share of all that arrive, some per second for pools with
 * little traffic, and no more at once than a few seconds' worth. So failures that many requests
 * have in common can't multiply the load of the servers that are left.
 */
public final class RetryBudget {

  /** Share of requests that may be sent again where nothing else is set. */
  public static final double USUAL_SHARE = 0.2;

  private static final double PER_SECOND = 5;
  private static final double MOST_SAVED = 50;
  private static final double NANOS = 1e-9;

  private double share = USUAL_SHARE;
  private double left = 2 * PER_SECOND;
  private long at;
  private boolean begun;

  /**
   * Sets the share of requests that may be sent again.
   *
   * @param share from 0, which allows none at all, to 1
   */
  public void share(double share) {
    this.share = share;
  }

  /** A request arrived. */
  public void arrived() {
    left = Math.min(MOST_SAVED, left + share);
  }

  /** Whether one more may be sent again; counts it if so. */
  public boolean take(long now) {
    boolean has = has(now);
    left -= has ? 1 : 0;
    return has;
  }

  /** Whether one more may be sent again. */
  public boolean has(long now) {
    if (begun && now > at) {
      left = Math.min(MOST_SAVED, left + (now - at) * NANOS * PER_SECOND);
    }
    begun = true;
    at = now;
    return share > 0 && left >= 1;
  }

  /** One that was counted was not sent again. */
  public void giveBack() {
    left = Math.min(MOST_SAVED, left + 1);
  }
}
