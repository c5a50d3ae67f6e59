package io.fairlead.core.receipt;

import io.fairlead.core.receipt.Decision.Excluded;
import io.fairlead.core.receipt.ProfileRun.Costs;
import io.fairlead.core.scheduling.DecisionRecorder;
import io.fairlead.core.scheduling.SchedulerOutline;
import io.fairlead.core.scheduling.SchedulerOutline.ProfileOutline;
import io.fairlead.core.view.ItemizedScorer;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Scorer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Writes a {@link Decision} down as the scheduler makes it. Used again for each; what is copied is
 * what a receipt keeps, and of costs and endpoints' facts only those of the best few.
 */
public final class DecisionWriter implements DecisionRecorder {

  /** Candidates of which it is kept what was known of them, and what they would have cost. */
  private static final int SHOWN = 16;

  private static final double[][] NO_SCORES = {};

  private final List<ProfileRun> runs = new ArrayList<>();
  private final List<Integer> profiles = new ArrayList<>();
  private final Best best = new Best();
  private @Nullable SchedulerOutline outline;
  private @Nullable InferenceRequest request;
  private int all;

  /** Of the profile that runs now. */
  private @Nullable ProfileOutline current;

  private byte @Nullable [] rejectedBy;
  private double[][] scores = NO_SCORES;
  private @Nullable Costs costs;

  DecisionWriter() {}

  /**
   * The scheduler is asked.
   *
   * @param outline of the scheduler
   * @param candidates how many there are
   */
  public void begin(SchedulerOutline outline, int candidates) {
    this.outline = outline;
    all = candidates;
    runs.clear();
    profiles.clear();
    current = null;
  }

  @Override
  public void profile(int profile, InferenceRequest request) {
    endProfile();
    this.request = request;
    current = outline == null ? null : outline.profiles().get(profile);
    profiles.add(profile);
    rejectedBy = null;
    scores = new double[current == null ? 0 : current.scorers().size()][];
    costs = null;
  }

  @Override
  public void filtered(int filter, Left left, boolean[] keep) {
    byte[] by = rejected(left);
    for (int i = 0, size = left.candidates().size(); i < size; i++) {
      if (!keep[i]) {
        by[left.origin(i)] = (byte) Math.min(filter, Byte.MAX_VALUE);
      }
    }
  }

  /** Who is not there when the first filter looks was not assigned to the profile. */
  private byte[] rejected(Left left) {
    byte[] by = rejectedBy;
    if (by == null) {
      by = new byte[all];
      Arrays.fill(by, (byte) ProfileRun.NOT_ASSIGNED);
      for (int i = 0, size = left.candidates().size(); i < size; i++) {
        by[left.origin(i)] = ProfileRun.KEPT;
      }
      rejectedBy = by;
    }
    return by;
  }

  @Override
  public void scored(int number, Scorer scorer, Left left, double[] all) {
    int size = left.candidates().size();
    scores[number] = Arrays.copyOf(all, size);
    if (scorer instanceof ItemizedScorer itemized && costs == null && request != null) {
      int[] places = best.of(all, size);
      int terms = itemized.costTerms().size();
      double[][] millis = new double[places.length][terms];
      double[][] weights = new double[places.length][terms];
      for (int i = 0; i < places.length; i++) {
        itemized.itemize(request, left.candidates(), places[i], millis[i], weights[i]);
      }
      costs =
          new Costs(number, itemized.costTerms(), itemized.preference(), places, millis, weights);
    }
  }

  @Override
  public void picked(Left left, double[] sums, int[] picked, int count) {
    int size = left.candidates().size();
    if (size < all && rejectedBy == null) {
      rejected(left);
    }
    add(size, left, Arrays.copyOf(sums, size), Arrays.copyOf(picked, count));
  }

  private void add(int size, @Nullable Left left, double[] sums, int[] picked) {
    if (current == null) {
      return;
    }
    int[] origins = null;
    if (size < all) {
      origins = new int[size];
      for (int i = 0; i < size && left != null; i++) {
        origins[i] = left.origin(i);
      }
    }
    runs.add(new ProfileRun(current, rejectedBy, origins, scores, sums, picked, costs));
    current = null;
  }

  /** One of which the filters left nobody has told of no pick. */
  private void endProfile() {
    if (current != null) {
      scores = new double[scores.length][0];
      add(0, null, new double[0], new int[0]);
    }
  }

  /**
   * What has come of it.
   *
   * @param candidates by index; the decision's own from here on
   * @param primary number of the profile whose pick gets the request
   * @param prefill the candidate that computes the prompt for it; -1 for itself
   * @param facts of a candidate, asked for the best few
   */
  public Decision end(
      long at,
      PoolConfig config,
      Endpoint[] candidates,
      List<Excluded> excluded,
      int primary,
      int prefill,
      IntFunction<EndpointFacts> facts) {
    endProfile();
    int run = profiles.indexOf(primary);
    ProfileRun chosen = runs.get(run);
    int[] shown = shown(chosen, prefill);
    EndpointFacts[] known = new EndpointFacts[shown.length];
    for (int i = 0; i < shown.length; i++) {
      known[i] = facts.apply(shown[i]);
    }
    Decision made =
        new Decision(at, config, candidates, excluded, runs, run, prefill, shown, known);
    clear();
    return made;
  }

  /** Lets go of what the last decision was made from. */
  public void clear() {
    if (outline == null) {
      return;
    }
    runs.clear();
    profiles.clear();
    outline = null;
    request = null;
    current = null;
    rejectedBy = null;
    scores = NO_SCORES;
    costs = null;
  }

  /** The best of the run that counts, whoever was picked, and others while there is space. */
  private int[] shown(ProfileRun chosen, int prefill) {
    int most = Math.min(all, SHOWN + 2);
    int[] shown = new int[most];
    int count = 0;
    shown[count++] = chosen.candidate(chosen.pick(0));
    if (prefill >= 0 && !contains(shown, count, prefill)) {
      shown[count++] = prefill;
    }
    for (int place : best.of(chosen.sums(), chosen.left())) {
      int candidate = chosen.candidate(place);
      if (count < most && !contains(shown, count, candidate)) {
        shown[count++] = candidate;
      }
    }
    for (int i = 0; i < all && count < most; i++) {
      if (!contains(shown, count, i)) {
        shown[count++] = i;
      }
    }
    return Arrays.copyOf(shown, count);
  }

  private static boolean contains(int[] numbers, int count, int number) {
    for (int i = 0; i < count; i++) {
      if (numbers[i] == number) {
        return true;
      }
    }
    return false;
  }

  /** Finds the places of the highest numbers, highest first. */
  private static final class Best {

    private final int[] places = new int[SHOWN];

    int[] of(double[] numbers, int size) {
      int count = 0;
      for (int i = 0; i < size; i++) {
        double number = numbers[i];
        if (count == SHOWN && number <= numbers[places[SHOWN - 1]]) {
          continue;
        }
        int at = count < SHOWN ? count++ : SHOWN - 1;
        while (at > 0 && numbers[places[at - 1]] < number) {
          places[at] = places[at - 1];
          at--;
        }
        places[at] = i;
      }
      return Arrays.copyOf(places, count);
    }
  }
}
