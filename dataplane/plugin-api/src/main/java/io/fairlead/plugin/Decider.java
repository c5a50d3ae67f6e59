package io.fairlead.plugin;

/**
 * Says whether a stage of serving a request, such as computing its prompt, is worth an endpoint of
 * its own. Not part of a profile: a {@link ProfileHandler}'s settings name it.
 */
public non-sealed interface Decider extends Plugin {

  /**
   * Whether to run the stage elsewhere.
   *
   * @param candidates those of the request, before any profile's filters
   * @param index the candidate that would do the stage's work as well otherwise
   */
  boolean disaggregate(InferenceRequest request, Candidates candidates, int index);
}
