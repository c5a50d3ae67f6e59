package io.fairlead.core;

/**
 * Whether a configured target model is served, as the answers for it tell.
 *
 * @param name of the target
 * @param state how it is
 * @param refusedBy how many endpoints had answered that they don't know it when it was found that
 *     nobody serves it; 0 in the other states
 */
public record TargetSnapshot(String name, State state, int refusedBy) {

  /** What answers tell of a target. */
  public enum State {
    /** An endpoint has answered for it in the last hour, or named it in its metrics. */
    SERVED,
    /** An endpoint has before, and nothing has been heard against it since. */
    SERVED_EARLIER,
    /** All that could serve it have said that they don't know it, and nobody has answered since. */
    NOT_SERVED
  }
}
