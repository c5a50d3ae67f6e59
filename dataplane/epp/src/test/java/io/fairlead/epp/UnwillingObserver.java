package io.fairlead.epp;

import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;

/** Can be made, but fails at the first endpoint that it is told of. */
public final class UnwillingObserver implements Observer {

  @Override
  public void joined(Endpoint endpoint) {
    throw new IllegalStateException("won't know " + endpoint.name());
  }

  /** Makes it. */
  public static final class Factory implements PluginFactory {
    @Override
    public String type() {
      return "unwilling-observer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new UnwillingObserver();
    }
  }
}
