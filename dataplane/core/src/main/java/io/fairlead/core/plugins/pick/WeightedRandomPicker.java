package io.fairlead.core.plugins.pick;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Picker;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;

/**
 * Draws candidates with probability proportional to their scores, one after the other without
 * putting back; those that score 0 come last, each as likely as another. The same law as taking the
 * largest of upstream's keys {@code U^(1/score)}, at one draw per pick instead of one per
 * candidate.
 */
final class WeightedRandomPicker implements Picker {

  private static final long PURPOSE = 0x77656967;
  private static final long UNIFORM_PURPOSE = 0x756e69;

  private final int maxEndpoints;

  WeightedRandomPicker(int maxEndpoints) {
    this.maxEndpoints = maxEndpoints;
  }

  @Override
  public int pick(InferenceRequest request, Candidates candidates, double[] scores, int[] picked) {
    int size = candidates.size();
    int count = Math.min(maxEndpoints, size);
    for (int i = 0; i < size; i++) {
      picked[i] = i;
    }
    for (int at = 0; at < count; at++) {
      int other = draw(request, scores, picked, at, size);
      int swapped = picked[at];
      picked[at] = picked[other];
      picked[other] = swapped;
    }
    return count;
  }

  /** Index of the next one, from {@code at} on. */
  private static int draw(InferenceRequest request, double[] scores, int[] left, int at, int size) {
    double total = 0;
    for (int i = at; i < size; i++) {
      total += scores[left[i]];
    }
    if (!(total > 0)) {
      return at + (int) request.draw(UNIFORM_PURPOSE + at, size - at);
    }
    double point = request.draw(PURPOSE + at, 1L << 53) * 0x1p-53 * total;
    int last = at;
    for (int i = at; i < size; i++) {
      double score = scores[left[i]];
      if (score > 0) {
        if (point < score) {
          return i;
        }
        point -= score;
        last = i;
      }
    }
    // Rounding can leave a little: it belongs to the last one.
    return last;
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "weighted-random-picker";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new WeightedRandomPicker(parameters.integer("maxNumOfEndpoints", 1, 1, 1_000));
    }
  }
}
