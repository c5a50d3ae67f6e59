package io.fairlead.lab.workload;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one run. Deterministic: a function of the workload's seed and of what is told to
 * {@link #ended}. Used by one caller at a time.
 */
public interface Traffic {

  /**
   * The next request that comes whatever becomes of the others, in order of time.
   *
   * @return null when there is no further one
   */
  @Nullable Arrival next();

  /**
   * A request is over: what its client does now. In a closed loop that is the next request, in a
   * conversation the next turn after a time to think.
   *
   * @param now nanoseconds since the start of the run
   * @param request as it was handed out, the very same object
   * @param served whether it was answered in full; a client that was not may give up or try again
   * @param follow takes what comes of it, at {@code now} or later
   */
  default void ended(long now, RequestShape request, boolean served, Consumer<Arrival> follow) {}
}
