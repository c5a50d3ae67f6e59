package io.fairlead.lab.simulator;

/** Something that happens to a pool or its pickers in the course of a run. */
public sealed interface ScenarioEvent permits ServerEvent, ServersJoin, PoolScale, PickerRestart {

  /** Latest time of an event, s. */
  double LATEST = 1e7;

  /** When it happens or begins, in seconds from the start of the run. */
  double at();

  /** The same at another time. */
  ScenarioEvent movedTo(double otherAt);

  /** Checks a time. */
  static void checkAt(double at) {
    if (!(at >= 0 && at <= LATEST)) {
      throw new IllegalArgumentException("at: is " + at + " s; set 0s to 10000000s");
    }
  }
}
