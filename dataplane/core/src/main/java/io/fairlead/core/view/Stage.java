package io.fairlead.core.view;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import org.jspecify.annotations.Nullable;

/** What the endpoint that is picked now is to do of a request that two may serve together. */
public interface Stage {

  /** It does all of it, whoever is picked. */
  Stage WHOLE = new Stage() {};

  /** Whether it computes the prompt for another endpoint, and no more than that. */
  default boolean promptAlone() {
    return false;
  }

  /** Whether another endpoint computes the prompt if this candidate is picked. */
  default boolean promptElsewhere(InferenceRequest request, Candidates candidates, int index) {
    return false;
  }

  /**
   * Where it is still open who computes a prompt elsewhere: the request's candidates, of which
   * those may do it that {@link #prefills} says.
   */
  default @Nullable Candidates prefillers() {
    return null;
  }

  /** Whether this one of {@link #prefillers} computes prompts for others. */
  default boolean prefills(int index) {
    return false;
  }

  /**
   * Prompt tokens that the endpoint lacks which the prompt is computed for, where it is known: what
   * has to be sent there.
   */
  default int lacking() {
    return 0;
  }
}
