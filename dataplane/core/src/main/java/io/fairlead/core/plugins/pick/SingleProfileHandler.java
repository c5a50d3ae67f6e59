package io.fairlead.core.plugins.pick;

import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.ProfileHandler;
import io.fairlead.plugin.ProfileResults;

/** Runs the only profile there is. */
final class SingleProfileHandler implements ProfileHandler {

  @Override
  public int next(InferenceRequest request, ProfileResults results) {
    return results.ran(0) ? DONE : 0;
  }

  @Override
  public int primary(InferenceRequest request, ProfileResults results) {
    return 0;
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "single-profile-handler";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new SingleProfileHandler();
    }
  }
}
