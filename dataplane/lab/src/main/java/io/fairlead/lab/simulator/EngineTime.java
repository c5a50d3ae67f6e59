package io.fairlead.lab.simulator;

/**
 * An engine's own time, which goes as the run's does unless the engine is slowed down or stopped:
 * then what it does takes longer, or nothing happens.
 */
final class EngineTime {

  private long since;
  private long reached;
  private double slowness = 1;
  private boolean stopped;

  /** The engine's time at a time of the run; never before what it was already. */
  long at(long now) {
    if (stopped) {
      return reached;
    }
    return slowness == 1 ? reached + (now - since) : reached + (long) ((now - since) / slowness);
  }

  /** When a time of the engine comes; {@link Timeline#NEVER} when that is not in sight. */
  long when(long engineTime) {
    if (stopped || engineTime == Timeline.NEVER) {
      return Timeline.NEVER;
    }
    return slowness == 1
        ? since + (engineTime - reached)
        : since + (long) Math.ceil((engineTime - reached) * slowness);
  }

  /**
   * It goes at another pace from now on.
   *
   * @param reachedNow the engine's time now, see {@link #at}
   */
  void pace(long now, long reachedNow, double slowness, boolean stopped) {
    this.reached = reachedNow;
    this.since = now;
    this.slowness = slowness;
    this.stopped = stopped;
  }
}
