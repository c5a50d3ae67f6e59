package io.fairlead.core.plugins.disagg;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Decider;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;

/** Has every prompt computed by an endpoint of its own. */
final class AlwaysDisaggPdDecider implements Decider {

  @Override
  public boolean disaggregate(InferenceRequest request, Candidates candidates, int index) {
    return true;
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "always-disagg-pd-decider";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new AlwaysDisaggPdDecider();
    }
  }
}
