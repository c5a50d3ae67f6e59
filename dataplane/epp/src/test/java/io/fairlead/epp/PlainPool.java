package io.fairlead.epp;

import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.List;
import java.util.Map;

/** Config of a pool of which nothing matters to a test but its scheduling. */
public final class PlainPool {

  private PlainPool() {}

  /** With the default scheduling. */
  public static PoolConfig config() {
    return config(SchedulerConfig.DEFAULT);
  }

  /** With this scheduling. */
  public static PoolConfig config(SchedulerConfig scheduler) {
    return new PoolConfig(
        "n", "p", Map.of(), List.of(1), "http", List.of(), RequestsConfig.DEFAULT, scheduler);
  }
}
