package io.fairlead.core.scheduling;

import io.fairlead.core.external.Advice;
import io.fairlead.core.scheduling.Scheduler.StandIns;
import io.fairlead.core.scheduling.SchedulerOutline.ProfileOutline;
import io.fairlead.core.view.PoolCandidates;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Picker;
import io.fairlead.plugin.Scorer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One profile: filters in order, then weighted scorers, then the picker. Where a scheduler outside
 * of the process has named endpoints that the filters leave, its scores decide instead of both.
 */
final class Profile implements DecisionRecorder.Left {

  /** No candidate was left to pick. */
  static final int NONE = -1;

  private static final long PURPOSE = 0x616476;

  /** A bit that a NaN has set, and no number from 0 to 1. */
  private static final long OF_NAN = Double.doubleToRawLongBits(2);

  private final ProfileOutline outline;
  private final Filter[] filters;
  private final Scorer[] scorers;
  private final double[] weights;
  private final Picker picker;

  private final Survivors survivors = new Survivors();
  private boolean[] keep = {};
  private double[] scores = {};
  private double[] sums = {};
  private int[] picked = {};
  private int pickCount;

  /** What is left of the candidates of the run. */
  private PoolCandidates left = survivors;

  /** Whether the last run picked among the candidates as they were given. */
  private boolean unfiltered;

  /**
   * @param outline names the plugins, in the same order
   */
  Profile(ProfileOutline outline, List<Filter> filters, List<Scorer> scorers, Picker picker) {
    this.outline = outline;
    this.filters = filters.toArray(Filter[]::new);
    this.scorers = scorers.toArray(Scorer[]::new);
    this.weights =
        outline.scorers().stream().mapToDouble(SchedulerOutline.WeightedScorer::weight).toArray();
    this.picker = picker;
  }

  /** The same with others in the place of its plugins. */
  Profile with(int number, StandIns standIns) {
    List<Filter> otherFilters = new ArrayList<>();
    for (int f = 0; f < filters.length; f++) {
      otherFilters.add(standIns.filter(number, f, filters[f]));
    }
    List<Scorer> otherScorers = new ArrayList<>();
    for (int s = 0; s < scorers.length; s++) {
      otherScorers.add(standIns.scorer(number, s, scorers[s]));
    }
    return new Profile(outline, otherFilters, otherScorers, standIns.picker(number, picker));
  }

  String name() {
    return outline.name();
  }

  ProfileOutline outline() {
    return outline;
  }

  boolean hasFilters() {
    return filters.length > 0;
  }

  /** How many candidates the last run picked, at least 1 if it picked any. */
  int pickCount() {
    return pickCount;
  }

  /** Index of the candidate that the last run picked at this rank, 0 being the best. */
  int pick(int rank) {
    return origin(picked[rank]);
  }

  /**
   * Index of the best candidate, or {@link #NONE}.
   *
   * @param allowed partitions whose candidates may be picked, one bit each
   * @param number of this profile, for the recorder
   * @param recorder told how it comes about; null for nobody
   */
  int run(
      InferenceRequest request,
      PartitionedCandidates candidates,
      long allowed,
      int number,
      @Nullable DecisionRecorder recorder) {
    reserve(candidates.size());
    if (recorder != null) {
      recorder.profile(number, request);
    }
    unfiltered = allowed == -1 && filters.length == 0;
    if (unfiltered) {
      left = candidates;
      return best(request, candidates, candidates, recorder);
    }
    left = survivors;
    filter(request, candidates, allowed, recorder);
    return best(request, survivors, candidates, recorder);
  }

  /**
   * Whether the filters leave any of the candidates to pick from.
   *
   * @param allowed partitions whose candidates may be picked, one bit each
   */
  boolean leavesSome(InferenceRequest request, PartitionedCandidates candidates, long allowed) {
    if (allowed == -1 && filters.length == 0) {
      return candidates.size() > 0;
    }
    reserve(candidates.size());
    filter(request, candidates, allowed, null);
    return survivors.size() > 0;
  }

  private void filter(
      InferenceRequest request,
      PartitionedCandidates candidates,
      long allowed,
      @Nullable DecisionRecorder recorder) {
    survivors.start(candidates, allowed);
    for (int f = 0; f < filters.length && survivors.size() > 0; f++) {
      Arrays.fill(keep, 0, survivors.size(), true);
      filters[f].filter(request, survivors, keep);
      if (recorder != null) {
        recorder.filtered(f, this, keep);
      }
      survivors.retain(keep);
    }
  }

  private int best(
      InferenceRequest request,
      PoolCandidates candidates,
      PartitionedCandidates all,
      @Nullable DecisionRecorder recorder) {
    int size = candidates.size();
    if (size == 0) {
      return NONE;
    }
    Advice advice = all.advice();
    if (advice != null && follow(advice, request, all, size)) {
      if (recorder != null) {
        recorder.advised(this, sums, picked);
      }
      return pick(0);
    }
    if (scorers.length == 0) {
      Arrays.fill(sums, 0, size, 0);
    }
    for (int s = 0; s < scorers.length; s++) {
      scorers[s].score(request, candidates, scores);
      clamp(size);
      if (recorder != null) {
        recorder.scored(s, scorers[s], this, scores);
      }
      if (s == 0) {
        set(weights[s], size);
      } else {
        add(weights[s], size);
      }
    }
    pickCount = picker.pick(request, candidates, sums, picked);
    check(size);
    if (recorder != null) {
      recorder.picked(this, sums, picked, pickCount);
    }
    return pick(0);
  }

  /**
   * Picks whom the advice scores highest; among equals each is as likely as another.
   *
   * @return false if it names nobody who is left: then the profile's own plugins decide
   */
  private boolean follow(
      Advice advice, InferenceRequest request, PartitionedCandidates all, int size) {
    double best = Double.NEGATIVE_INFINITY;
    int ties = 0;
    for (int i = 0; i < size; i++) {
      double score = advice.score(all.identity(origin(i)));
      sums[i] = Double.isNaN(score) ? Double.NEGATIVE_INFINITY : score;
      if (score > best) {
        best = score;
        ties = 1;
        picked[0] = i;
      } else if (score == best) {
        ties++;
        // Each of those seen so far has the same chance to be the one.
        if (request.draw(PURPOSE + ties, ties) == 0) {
          picked[0] = i;
        }
      }
    }
    pickCount = Math.min(1, ties);
    return ties > 0;
  }

  @Override
  public PoolCandidates candidates() {
    return left;
  }

  @Override
  public int origin(int index) {
    return unfiltered ? index : survivors.origin(index);
  }

  /** Puts each score between 0 and 1; a NaN becomes 0. */
  private void clamp(int size) {
    double[] all = scores;
    // No branch in here, and no more than this: the compiler makes vector instructions of it.
    for (int i = 0; i < size; i++) {
      all[i] = Math.max(0, Math.min(1, all[i]));
    }
    long bits = 0;
    for (int i = 0; i < size; i++) {
      bits |= Double.doubleToRawLongBits(all[i]);
    }
    if ((bits & OF_NAN) != 0) {
      for (int i = 0; i < size; i++) {
        if (Double.isNaN(all[i])) {
          all[i] = 0;
        }
      }
    }
  }

  /** Begins with the weighted scores. */
  private void set(double weight, int size) {
    double[] from = scores;
    double[] to = sums;
    for (int i = 0; i < size; i++) {
      to[i] = weight * from[i];
    }
  }

  /** Adds the weighted scores. */
  private void add(double weight, int size) {
    double[] from = scores;
    double[] to = sums;
    for (int i = 0; i < size; i++) {
      to[i] += weight * from[i];
    }
  }

  private void check(int size) {
    boolean sound = pickCount >= 1 && pickCount <= size;
    for (int i = 0; sound && i < pickCount; i++) {
      sound = picked[i] >= 0 && picked[i] < size;
    }
    if (!sound) {
      throw new IllegalStateException(
          "picker of profile " + name() + " chose no candidate; it must choose at least one");
    }
  }

  /** Arrays are one longer than the candidates: a filter may rely on {@code keep} being longer. */
  private void reserve(int size) {
    if (keep.length <= size) {
      int length = Math.max(16, size + size / 2 + 1);
      keep = new boolean[length];
      scores = new double[length];
      sums = new double[length];
      picked = new int[length];
      survivors.reserve(length);
    }
  }
}
