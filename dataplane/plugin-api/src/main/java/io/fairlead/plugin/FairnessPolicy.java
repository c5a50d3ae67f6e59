package io.fairlead.plugin;

/** Says which flow of a priority band goes next. */
public non-sealed interface FairnessPolicy extends Plugin {

  /**
   * The flow whose first request goes next.
   *
   * @param now in nanoseconds, as {@link InferenceRequest#now}
   * @param flows those with requests that wait; at least one, in no order
   * @return an index into {@code flows}
   */
  int next(long now, Flows flows);
}
