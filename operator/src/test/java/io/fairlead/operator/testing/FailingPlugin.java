package io.fairlead.operator.testing;

import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;

/** A plugin type whose plugins break as soon as there is an endpoint. */
public final class FailingPlugin implements PluginFactory {

  /** The type's name. */
  public static final String TYPE = "failing-test-plugin";

  /** For the service loader. */
  public FailingPlugin() {}

  @Override
  public String type() {
    return TYPE;
  }

  @Override
  public Plugin create(Parameters parameters) {
    return new Broken();
  }

  private static final class Broken implements Observer {
    @Override
    public void joined(Endpoint endpoint) {
      throw new IllegalStateException("no endpoint is good enough");
    }
  }
}
