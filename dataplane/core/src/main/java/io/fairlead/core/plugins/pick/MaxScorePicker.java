package io.fairlead.core.plugins.pick;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Picker;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;

/** Picks the highest scores; among equals each is as likely as another, drawn from the seed. */
final class MaxScorePicker implements Picker {

  private static final long PURPOSE = 0x6d6178;

  private final int maxEndpoints;

  MaxScorePicker(int maxEndpoints) {
    this.maxEndpoints = maxEndpoints;
  }

  @Override
  public int pick(InferenceRequest request, Candidates candidates, double[] scores, int[] picked) {
    int size = candidates.size();
    int count = Math.min(maxEndpoints, size);
    double below = Double.POSITIVE_INFINITY;
    int chosen = 0;
    while (chosen < count) {
      double best = Double.NEGATIVE_INFINITY;
      int ties = 0;
      int last = 0;
      for (int i = 0; i < size; i++) {
        double score = scores[i];
        // Hardly ever true, so it comes first.
        if (score >= best && score < below) {
          ties = score == best ? ties + 1 : 1;
          best = score;
          last = i;
        }
      }
      if (ties == 1) {
        picked[chosen++] = last;
      } else {
        chosen = drawTies(request, scores, best, ties, picked, chosen, count);
      }
      below = best;
    }
    return count;
  }

  /** Appends candidates that score {@code best}, in a random order, until {@code count} is met. */
  private static int drawTies(
      InferenceRequest request,
      double[] scores,
      double best,
      int ties,
      int[] picked,
      int from,
      int count) {
    int at = from;
    for (int i = 0, found = 0; found < ties; i++) {
      if (scores[i] == best) {
        picked[at + found++] = i;
      }
    }
    // The first steps of a Fisher-Yates shuffle.
    for (int left = ties; left > 0 && at < count; left--, at++) {
      int other = at + (int) request.draw(PURPOSE + at, left);
      int swapped = picked[at];
      picked[at] = picked[other];
      picked[other] = swapped;
    }
    return at;
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "max-score-picker";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new MaxScorePicker(parameters.integer("maxNumOfEndpoints", 1, 1, 1_000));
    }
  }
}
