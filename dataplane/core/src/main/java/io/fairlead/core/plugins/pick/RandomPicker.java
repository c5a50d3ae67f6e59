package io.fairlead.core.plugins.pick;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Picker;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;

/** Picks any candidates whatever their scores, drawn from the seed. */
final class RandomPicker implements Picker {

  private static final long PURPOSE = 0x72616e;

  private final int maxEndpoints;

  RandomPicker(int maxEndpoints) {
    this.maxEndpoints = maxEndpoints;
  }

  @Override
  public int pick(InferenceRequest request, Candidates candidates, double[] scores, int[] picked) {
    int size = candidates.size();
    int count = Math.min(maxEndpoints, size);
    for (int i = 0; i < size; i++) {
      picked[i] = i;
    }
    for (int i = 0; i < count; i++) {
      int other = i + (int) request.draw(PURPOSE + i, size - i);
      int swapped = picked[i];
      picked[i] = picked[other];
      picked[other] = swapped;
    }
    return count;
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "random-picker";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new RandomPicker(parameters.integer("maxNumOfEndpoints", 1, 1, 1_000));
    }
  }
}
