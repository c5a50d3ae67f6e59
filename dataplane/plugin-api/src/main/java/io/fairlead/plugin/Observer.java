package io.fairlead.plugin;

/**
 * Is told what becomes of requests, for plugins that learn. Called once for a plugin that is
 * listed, whether or not a profile uses it. Whatever it throws is a broken plugin: the request
 * fails.
 */
public non-sealed interface Observer extends Plugin {

  /**
   * An endpoint came. One of a name that was there before is another process, and another object:
   * nothing that was learned under the name holds any more. Also called for every endpoint there is
   * when a config with a new instance of this plugin is applied.
   */
  default void joined(Endpoint endpoint) {}

  /**
   * The request goes to this endpoint.
   *
   * @param headers takes headers that the request or its response shall carry
   */
  default void dispatched(InferenceRequest request, Endpoint endpoint, HeaderWriter headers) {}

  /** A response is over. Not called for requests that were sent nowhere. */
  default void completed(Completion completion) {}
}
