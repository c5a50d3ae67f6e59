package io.fairlead.core.flow;

/** What became of a request that had to wait. */
public enum WaitEnd {
  /** It was sent. */
  DISPATCHED,
  /** There was no place for it: it did not wait at all. */
  QUEUE_FULL,
  /** It waited as long as it may. */
  TIMED_OUT,
  /** It waited until its first token was to be there, and is not wanted later. */
  OBJECTIVE_MISSED,
  /** It made room for another. */
  EVICTED,
  /** Its client went away. */
  CANCELLED,
  /** It was refused for another reason, such as a shutdown. */
  REFUSED
}
