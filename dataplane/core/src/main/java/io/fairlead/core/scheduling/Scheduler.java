package io.fairlead.core.scheduling;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.ProfileHandler;
import io.fairlead.plugin.ProfileResults;
import java.util.Arrays;
import java.util.List;

/** Runs the profiles that the profile handler asks for. Owned by the pool's loop. */
public final class Scheduler {

  /** No profile that counts found an endpoint. */
  public static final int NONE = -1;

  private static final int NOT_RUN = -2;

  private final Profile[] profiles;
  private final ProfileHandler handler;

  /** The pick of each profile for the current request, {@link #NONE} or {@link #NOT_RUN}. */
  private final int[] picks;

  private final ProfileResults results = new Results();

  Scheduler(List<Profile> profiles, ProfileHandler handler) {
    this.profiles = profiles.toArray(Profile[]::new);
    this.handler = handler;
    this.picks = new int[this.profiles.length];
  }

  /**
   * Chooses among the candidates.
   *
   * @return index of the candidate that gets the request, or {@link #NONE}
   * @throws RuntimeException if a plugin breaks its contract
   */
  public int schedule(InferenceRequest request, Candidates candidates) {
    Arrays.fill(picks, NOT_RUN);
    for (int i = next(request); i != ProfileHandler.DONE; i = next(request)) {
      picks[i] = profiles[i].run(request, candidates);
    }
    int primary = handler.primary(request, results);
    return primary >= 0 && primary < picks.length && picks[primary] >= 0 ? picks[primary] : NONE;
  }

  private int next(InferenceRequest request) {
    int next = handler.next(request, results);
    if (next != ProfileHandler.DONE && (next < 0 || next >= picks.length || results.ran(next))) {
      throw new IllegalStateException(
          "profile handler asked for profile " + next + ", which does not exist or has run");
    }
    return next;
  }

  private final class Results implements ProfileResults {

    @Override
    public int profileCount() {
      return profiles.length;
    }

    @Override
    public String profileName(int profile) {
      return profiles[profile].name();
    }

    @Override
    public boolean ran(int profile) {
      return picks[profile] != NOT_RUN;
    }

    @Override
    public boolean succeeded(int profile) {
      return picks[profile] >= 0;
    }
  }
}
