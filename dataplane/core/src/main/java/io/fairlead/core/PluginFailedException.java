package io.fairlead.core;

/** A plugin threw while it was told of an event that has taken effect nevertheless. */
public final class PluginFailedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  PluginFailedException(Throwable cause) {
    super(cause);
  }
}
