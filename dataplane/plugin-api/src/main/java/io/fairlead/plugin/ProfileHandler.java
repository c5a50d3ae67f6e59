package io.fairlead.plugin;

/** Decides which profiles run for a request, in which order, and whose pick gets it. */
public non-sealed interface ProfileHandler extends Plugin {

  /** Returned by {@link #next} when no more profile is to run. */
  int DONE = -1;

  /** Index of the profile to run next, or {@link #DONE}. Each profile runs at most once. */
  int next(InferenceRequest request, ProfileResults results);

  /** Index of the profile whose pick gets the request; called after {@link #DONE}. */
  int primary(InferenceRequest request, ProfileResults results);
}
