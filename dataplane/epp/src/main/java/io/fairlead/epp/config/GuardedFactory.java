package io.fairlead.epp.config;

import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.Objects;

/** A plugin type from a jar: what it throws unexpectedly is told with the type that threw it. */
record GuardedFactory(PluginFactory own) implements PluginFactory {

  @Override
  public String type() {
    return own.type();
  }

  @Override
  public Plugin create(Parameters parameters) {
    try {
      return Objects.requireNonNull(own.create(parameters), "create returned no plugin");
    } catch (InvalidParameterException e) {
      throw e;
    } catch (RuntimeException | Error e) {
      throw new Failure(type(), e);
    }
  }

  /** A plugin of the type could not be made. */
  static final class Failure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String type;

    Failure(String type, Throwable cause) {
      super(cause);
      this.type = type;
    }

    String type() {
      return type;
    }
  }
}
