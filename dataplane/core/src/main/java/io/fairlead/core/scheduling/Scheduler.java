package io.fairlead.core.scheduling;

import io.fairlead.core.Route;
import io.fairlead.plugin.Assigner;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Picker;
import io.fairlead.plugin.ProfileHandler;
import io.fairlead.plugin.ProfileResults;
import io.fairlead.plugin.Scorer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Runs the profiles that the profile handler asks for. Owned by the pool's loop. What came of it
 * can be read until the next call of {@link #schedule}.
 */
public final class Scheduler {

  /** No candidate. */
  public static final int NONE = -1;

  private static final int NOT_RUN = -2;

  private final SchedulerOutline outline;
  private final Profile[] profiles;
  private final ProfileHandler handler;
  private final @Nullable Assigner assigner;

  /** The pick of each profile for the current request, {@link #NONE} or {@link #NOT_RUN}. */
  private final int[] picks;

  private final Results results = new Results();
  private int primary = NONE;

  Scheduler(List<Profile> profiles, ProfileHandler handler, @Nullable Assigner assigner) {
    this.outline = new SchedulerOutline(profiles.stream().map(Profile::outline).toList());
    this.profiles = profiles.toArray(Profile[]::new);
    this.handler = handler;
    this.assigner = assigner;
    this.picks = new int[this.profiles.length];
  }

  /** What stands in for plugins of profiles, each of which knows the one that it stands for. */
  public interface StandIns {

    /** For a filter, by its number in its profile. */
    Filter filter(int profile, int number, Filter filter);

    /** For a scorer, by its number in its profile. */
    Scorer scorer(int profile, int number, Scorer scorer);

    /** For the picker of a profile. */
    Picker picker(int profile, Picker picker);
  }

  /** The same with others in the place of its filters, scorers and pickers. */
  public Scheduler with(StandIns standIns) {
    return new Scheduler(
        IntStream.range(0, profiles.length).mapToObj(i -> profiles[i].with(i, standIns)).toList(),
        handler,
        assigner);
  }

  /** Names of all that it runs. */
  public SchedulerOutline outline() {
    return outline;
  }

  /** Whether requests may want some endpoints and not others, or more than one of them. */
  public boolean parts() {
    return assigner != null || profiles.length > 1 || profiles[0].hasFilters();
  }

  /** The partition that the assigner puts this endpoint in; 0 without an assigner. */
  public int partition(Endpoint endpoint) {
    int partition = assigner == null ? 0 : assigner.partition(endpoint);
    if (partition < 0 || partition >= Assigner.MAX_PARTITIONS) {
      throw new IllegalStateException(
          "assigner put endpoint " + endpoint.name() + " in partition " + partition);
    }
    return partition;
  }

  /**
   * Chooses among the candidates.
   *
   * @param recorder told how it comes about; null for nobody
   * @return whether one was found that gets the request
   * @throws RuntimeException if a plugin breaks its contract
   */
  public boolean schedule(
      InferenceRequest request,
      PartitionedCandidates candidates,
      @Nullable DecisionRecorder recorder) {
    Arrays.fill(picks, NOT_RUN);
    results.candidates = candidates;
    primary = NONE;
    try {
      long present = assigner == null ? 0 : present(candidates);
      for (int i = next(request); i != ProfileHandler.DONE; i = next(request)) {
        picks[i] = profiles[i].run(request, candidates, allowed(request, i, present), i, recorder);
      }
      int chosen = handler.primary(request, results);
      if (chosen >= 0 && chosen < picks.length && picks[chosen] >= 0) {
        primary = chosen;
      }
      return primary != NONE;
    } finally {
      results.candidates = null;
    }
  }

  /**
   * Whether each profile has somebody to pick among the candidates: then none that {@link
   * #schedule} runs on them lacks anybody. Nobody is scored for it. A profile counts that would not
   * be run, so a false says nothing.
   *
   * @throws RuntimeException if a plugin breaks its contract
   */
  public boolean everyProfileHasSome(InferenceRequest request, PartitionedCandidates candidates) {
    long present = assigner == null ? 0 : present(candidates);
    for (int i = 0; i < profiles.length; i++) {
      if (!profiles[i].leavesSome(request, candidates, allowed(request, i, present))) {
        return false;
      }
    }
    return true;
  }

  private long allowed(InferenceRequest request, int profile, long present) {
    return assigner == null ? -1 : assigner.allowed(request, profiles[profile].name(), present);
  }

  /** Number of the profile whose pick gets the request. */
  public int primaryProfile() {
    return primary;
  }

  /** Index of the candidate that gets the request. */
  public int primary() {
    return picks[primary];
  }

  /** Index of the candidate that computes the prompt for the primary one, or {@link #NONE}. */
  public int prefill() {
    for (int i = 0; i < picks.length; i++) {
      if (i != primary && picks[i] >= 0 && picks[i] != picks[primary] && handler.prefills(i)) {
        return picks[i];
      }
    }
    return NONE;
  }

  /** Whether another endpoint was to compute the prompt, and none was found for that. */
  public boolean lacksPrefill() {
    for (int i = 0; i < picks.length; i++) {
      if (i != primary && picks[i] == NONE && handler.prefills(i)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Sets the headers that tell the primary endpoint of the other profiles' picks, as far as those
   * are not itself.
   */
  public void handOvers(Candidates candidates, HeaderWriter headers) {
    for (int i = 0; i < picks.length; i++) {
      if (i != primary && picks[i] >= 0 && picks[i] != picks[primary]) {
        String header = handler.handOver(i);
        if (header != null) {
          headers.request(header, destination(candidates.get(picks[i])));
        }
      }
    }
  }

  /** What the primary profile picked beside its first choice, best first. */
  public List<String> fallbacks(Candidates candidates) {
    Profile profile = profiles[primary];
    if (profile.pickCount() == 1) {
      return List.of();
    }
    List<String> fallbacks = new ArrayList<>(profile.pickCount() - 1);
    for (int i = 1; i < profile.pickCount(); i++) {
      fallbacks.add(destination(candidates.get(profile.pick(i))));
    }
    return fallbacks;
  }

  private static String destination(Endpoint endpoint) {
    return Route.destination(endpoint.address(), endpoint.port());
  }

  private static long present(PartitionedCandidates candidates) {
    long present = 0;
    for (int i = 0, size = candidates.size(); i < size; i++) {
      present |= 1L << candidates.partition(i);
    }
    return present;
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

    private @Nullable Candidates candidates;

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

    @Override
    public int picked(int profile) {
      if (!succeeded(profile)) {
        throw new IllegalStateException("profile " + profileName(profile) + " picked nothing");
      }
      return picks[profile];
    }

    @Override
    public Candidates candidates() {
      if (candidates == null) {
        throw new IllegalStateException("results are valid only while a request is scheduled");
      }
      return candidates;
    }
  }
}
