package io.fairlead.core.replay;

import io.fairlead.core.receipt.ProfileRun;
import io.fairlead.core.replay.RunOutputs.ScorerOutputs;
import io.fairlead.core.scheduling.DecisionRecorder;
import io.fairlead.core.scheduling.ExternalScheduler;
import io.fairlead.core.scheduling.SchedulerOutline;
import io.fairlead.core.scheduling.SchedulerOutline.ProfileOutline;
import io.fairlead.core.scheduling.SchedulerOutline.WeightedScorer;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Scorer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes down what profiles come to. */
final class OutputsRecorder implements DecisionRecorder {

  private final SchedulerOutline outline;
  private final int endpoints;
  private final List<RunOutputs> runs = new ArrayList<>();
  private @Nullable ProfileOutline profile;
  private int[] rejectedBy = {};
  private List<ScorerOutputs> scorers = new ArrayList<>();
  private List<Integer> picked = List.of();
  private String picker = "";
  private boolean begun;

  OutputsRecorder(SchedulerOutline outline, int endpoints) {
    this.outline = outline;
    this.endpoints = endpoints;
  }

  /** What it has come to so far. */
  List<RunOutputs> runs() {
    end();
    return runs;
  }

  /** Name of the profile that runs; empty where none has begun. */
  String running() {
    ProfileOutline running = profile;
    return running == null ? "" : running.name();
  }

  @Override
  public void profile(int number, InferenceRequest request) {
    end();
    ProfileOutline next = outline.profiles().get(number);
    profile = next;
    rejectedBy = new int[endpoints];
    Arrays.fill(rejectedBy, ProfileRun.KEPT);
    scorers = new ArrayList<>();
    picked = List.of();
    picker = next.picker();
    begun = false;
  }

  private void end() {
    ProfileOutline ended = profile;
    if (ended != null) {
      if (picked.isEmpty()) {
        // The filters have left nobody.
        scorers.clear();
        for (WeightedScorer scorer : ended.scorers()) {
          scorers.add(new ScorerOutputs(scorer.name(), scorer.weight(), nothing()));
        }
      }
      List<Integer> rejected = Arrays.stream(rejectedBy).boxed().toList();
      runs.add(new RunOutputs(ended.name(), ended.filters(), rejected, scorers, picker, picked));
      profile = null;
    }
  }

  private List<Double> nothing() {
    Double[] nothing = new Double[endpoints];
    Arrays.fill(nothing, Double.NaN);
    return List.of(nothing);
  }

  /** The assigner may have given it only some. */
  private void begin(Left left) {
    if (!begun) {
      boolean[] given = new boolean[endpoints];
      for (int i = 0; i < left.candidates().size(); i++) {
        given[left.origin(i)] = true;
      }
      for (int i = 0; i < endpoints; i++) {
        rejectedBy[i] = given[i] ? ProfileRun.KEPT : ProfileRun.NOT_ASSIGNED;
      }
      begun = true;
    }
  }

  @Override
  public void filtered(int filter, Left left, boolean[] keep) {
    begin(left);
    for (int i = 0; i < left.candidates().size(); i++) {
      if (!keep[i]) {
        rejectedBy[left.origin(i)] = Math.min(filter, Byte.MAX_VALUE);
      }
    }
  }

  @Override
  public void scored(int number, Scorer scorer, Left left, double[] scores) {
    begin(left);
    ProfileOutline running = profile;
    if (running != null) {
      scored(running.scorers().get(number), left, scores);
    }
  }

  private void scored(WeightedScorer scorer, Left left, double[] scores) {
    Double[] all = new Double[endpoints];
    Arrays.fill(all, Double.NaN);
    for (int i = 0; i < left.candidates().size(); i++) {
      all[left.origin(i)] = scores[i];
    }
    scorers.add(new ScorerOutputs(scorer.name(), scorer.weight(), List.of(all)));
  }

  @Override
  public void picked(Left left, double[] sums, int[] chosen, int count) {
    begin(left);
    picked = Arrays.stream(chosen, 0, count).mapToObj(left::origin).toList();
  }

  @Override
  public void advised(Left left, double[] scores, int[] chosen) {
    begin(left);
    scorers.clear();
    scored(new WeightedScorer(ExternalScheduler.TYPE, 1), left, scores);
    picker = ExternalScheduler.TYPE;
    picked(left, scores, chosen, 1);
  }
}
