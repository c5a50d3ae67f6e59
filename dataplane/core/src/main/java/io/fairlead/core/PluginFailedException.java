package io.fairlead.core;

/** A plugin threw while it was told of an event that has taken effect nevertheless. */
public final class PluginFailedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private PluginFailedException(Throwable cause) {
    super(cause);
  }

  /** Of what a plugin threw; what is one already stays as it is. */
  static PluginFailedException of(Throwable thrown) {
    return thrown instanceof PluginFailedException known
        ? known
        : new PluginFailedException(thrown);
  }
}
