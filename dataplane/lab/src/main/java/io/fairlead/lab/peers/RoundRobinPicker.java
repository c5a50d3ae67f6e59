package io.fairlead.lab.peers;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Picker;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;

/** One after the other, whatever they do: a Service without an endpoint picker. */
final class RoundRobinPicker implements Picker {

  private int turn = -1;

  @Override
  public int pick(InferenceRequest request, Candidates candidates, double[] scores, int[] picked) {
    turn = (turn + 1) % candidates.size();
    picked[0] = turn;
    return 1;
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "round-robin-picker";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new RoundRobinPicker();
    }
  }
}
