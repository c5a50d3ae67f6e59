package io.fairlead.epp.director;

import io.fairlead.core.Failure;
import io.fairlead.core.Probe;
import org.jspecify.annotations.Nullable;

/** Puts questions to endpoints that no user asked. */
public interface Prober {

  /** What came of a probe. */
  @FunctionalInterface
  interface Answer {

    /** One call for each probe: null where it was answered with a status below 500. */
    void came(@Nullable Failure failure);
  }

  /** Asks, and tells what came of it from any thread, later than from within this call. */
  void ask(Probe probe, Answer answer);
}
