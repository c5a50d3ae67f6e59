package io.fairlead.plugin;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decides which profiles run for a request, in which order, and whose pick gets it. */
public non-sealed interface ProfileHandler extends Plugin {

  /** Returned by {@link #next} when no more profile is to run. */
  int DONE = -1;

  /**
   * Tells which profiles there are, by index. Called once, when the config is compiled, before
   * anything else is asked.
   *
   * @throws InvalidParameterException if a profile is missing that a setting names
   */
  default void profiles(List<String> names) {}

  /** Index of the profile to run next, or {@link #DONE}. Each profile runs at most once. */
  int next(InferenceRequest request, ProfileResults results);

  /** Index of the profile whose pick gets the request; called after {@link #DONE}. */
  int primary(InferenceRequest request, ProfileResults results);

  /**
   * Name of the request header that hands the endpoint picked by this profile over to the one that
   * gets the request; null when it is not handed over. Asked for each profile that succeeded beside
   * the primary one. At most one pick is handed over with {@link #prefills}.
   */
  default @Nullable String handOver(int profile) {
    return null;
  }

  /** Whether the endpoint picked by this profile computes the prompt for the primary one. */
  default boolean prefills(int profile) {
    return false;
  }
}
