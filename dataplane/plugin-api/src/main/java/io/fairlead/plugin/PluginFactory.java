package io.fairlead.plugin;

/**
 * Makes plugins of one type. Found through {@link java.util.ServiceLoader}, so a jar on the class
 * path adds a type.
 */
public interface PluginFactory {

  /** The {@code type} that config documents use, e.g. {@code queue-scorer}. */
  String type();

  /**
   * Makes an instance; called off the pool's loop.
   *
   * @param parameters the instance's settings; whatever is left unread is reported as unknown
   * @throws InvalidParameterException if a setting is missing or out of range
   */
  Plugin create(Parameters parameters);
}
