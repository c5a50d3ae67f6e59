package io.fairlead.plugin;

/** What the profiles of the current request have come to so far. */
public interface ProfileResults {

  /** Number of configured profiles; indexes follow the config's order. */
  int profileCount();

  /** Configured name of a profile. */
  String profileName(int profile);

  /** Whether this profile has run for the current request. */
  boolean ran(int profile);

  /** Whether it ran and picked an endpoint. */
  boolean succeeded(int profile);

  /** Index in {@link #candidates()} of what it picked first; only after it {@link #succeeded}. */
  int picked(int profile);

  /** All candidates of the request, before any profile's filters. */
  Candidates candidates();
}
