package io.fairlead.core.handover;

import io.fairlead.core.EndpointSpec;

/**
 * Is told what a picker knows, piece by piece: first what was learned of models, then endpoint by
 * endpoint what that is and what it holds. Arrays are the caller's, and may change afterwards.
 */
public interface Knowledge {

  /** Tokens of a target model's prompts, as {@link io.fairlead.core.account.TokenEstimate} says. */
  void tokens(String model, double[] learned);

  /**
   * What a plugin has learned, of no single endpoint.
   *
   * @param plugin its number among those of the config that can tell
   * @param key what it is of, in the plugin's own words
   */
  void learned(int plugin, String key, double[] values);

  /**
   * An endpoint: what follows up to the next one is of it.
   *
   * @param startedAt when its process started, in seconds of Unix time; NaN where it doesn't tell
   * @param blocks that its cache is believed to have room for
   */
  void endpoint(EndpointSpec endpoint, double startedAt, int blocks);

  /**
   * For how many nanoseconds the endpoint has had no request, 0 while it has some. Not told where
   * it has had none since its cache was empty.
   */
  void idle(long nanos);

  /** What a plugin has learned of the endpoint. */
  void speeds(int plugin, double[] values);

  /**
   * A part of one or many prompts. Numbers of parts hold until {@link #cut}.
   *
   * @param part its number
   * @param before number of the part before it; -1 for a beginning
   * @param blocks hashes of its blocks, salted by their target model
   */
  void part(int part, int before, long[] blocks);

  /**
   * The endpoint holds a prompt: the part with all before it. What it used last comes first.
   *
   * @param blocks of that part that it holds, from its first on
   */
  void held(int part, int blocks);

  /** Numbers of parts begin anew: others may be told of by the same numbers. */
  void cut();
}
