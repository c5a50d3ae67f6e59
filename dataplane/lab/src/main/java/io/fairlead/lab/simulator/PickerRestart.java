package io.fairlead.lab.simulator;

/**
 * Another process takes a picker's place, which knows nothing of what the one before has learned.
 * That one gets no more requests, and sees those that it has to their ends.
 *
 * @param picker its number, from 0
 * @param at when, in seconds from the start of the run
 * @param seconds until the new process is there; 0 for at once
 */
public record PickerRestart(int picker, double at, double seconds) implements ScenarioEvent {

  public PickerRestart {
    ScenarioEvent.checkAt(at);
    if (picker < 0) {
      throw new IllegalArgumentException("picker: is " + picker + "; set 0 or more");
    }
    if (!(seconds >= 0)) {
      throw new IllegalArgumentException("for: is " + seconds + " s; set 0s or more");
    }
  }

  /** When the new process is there, in seconds from the start of the run. */
  public double end() {
    return at + seconds;
  }

  @Override
  public PickerRestart movedTo(double otherAt) {
    return new PickerRestart(picker, otherAt, seconds);
  }
}
