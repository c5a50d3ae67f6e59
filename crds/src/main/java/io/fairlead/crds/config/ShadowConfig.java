package io.fairlead.crds.config;

/**
 * A scheduling that is tried beside the one in force: it decides on the same requests, and nothing
 * goes where it says.
 *
 * @param name unique in the pool: a DNS label
 * @param scheduler plugins and profiles
 */
public record ShadowConfig(String name, SchedulerConfig scheduler) {

  /** So many a pool may have: each has an account and an index of its own. */
  public static final int MOST = 8;
}
