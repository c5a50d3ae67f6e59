package io.fairlead.lab.peers;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Picker;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;

/**
 * The power of two choices: of two candidates drawn at random the one with fewer requests in
 * flight, the first drawn if both have as many.
 *
 * <p>Source: sgl-project/sglang, {@code sgl-model-gateway/src/policies/power_of_two.rs} at
 * 065f331f, as it is without token counts from its load monitor.
 */
final class PowerOfTwoPicker implements Picker {

  private static final long FIRST = 0x7032_6331;
  private static final long SECOND = 0x7032_6332;

  @Override
  public int pick(InferenceRequest request, Candidates candidates, double[] scores, int[] picked) {
    int size = candidates.size();
    int first = (int) request.draw(FIRST, size);
    int second = size == 1 ? first : (first + 1 + (int) request.draw(SECOND, size - 1)) % size;
    boolean fewer = candidates.get(second).inFlight() < candidates.get(first).inFlight();
    picked[0] = fewer ? second : first;
    return 1;
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "power-of-two-picker";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new PowerOfTwoPicker();
    }
  }
}
