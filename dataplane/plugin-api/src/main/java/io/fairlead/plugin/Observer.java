package io.fairlead.plugin;

/**
 * Is told what becomes of requests, for plugins that learn. Called once for a plugin that is
 * listed, whether or not a profile uses it. Whatever it throws is a broken plugin: the request
 * fails.
 */
public non-sealed interface Observer extends Plugin {

  /**
   * An endpoint came, as an object that stays the same while the pool has it or it has requests in
   * flight. One of a name that was there before is another object, and mostly another process. A
   * process that is started again without leaving the pool keeps its object: {@link
   * Endpoint#emptyAt()} tells of it. Also called for every endpoint there is when a config with a
   * new instance of this plugin is applied, first for those on their way out.
   */
  default void joined(Endpoint endpoint) {}

  /**
   * The request goes to this endpoint. As long as configs keep this observer, each such call is
   * followed by one of {@link #completed}, also when the request is sent again elsewhere: by that
   * for the endpoint that failed first, and by this one for the next. A call that throws counts as
   * none: the request fails, those that were told of it before are told of its end, and the one
   * that threw is not. It should throw before it counts anything.
   *
   * @param headers takes headers that the request or its response shall carry
   */
  default void dispatched(InferenceRequest request, Endpoint endpoint, HeaderWriter headers) {}

  /**
   * What was sent to an endpoint is over, whatever became of it. Not called for requests that were
   * sent nowhere. An observer that came with a later config is also told of the ends of requests
   * that were sent before it came: what it counts must not rely on having seen them go.
   */
  default void completed(Completion completion) {}
}
