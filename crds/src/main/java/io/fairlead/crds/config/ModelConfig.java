package io.fairlead.crds.config;

import java.util.List;

/**
 * A model name that clients may ask for, how important its requests are, and what serves it.
 *
 * @param name the {@code model} field of a request
 * @param criticality how its requests fare when the pool is short of capacity
 * @param targets what the name is replaced by; never empty (a model without targets is its own)
 * @param timeouts of its requests, before those of the pool
 * @param queue how its requests wait where there is no room
 * @param latency what its requests ask for that don't say so themselves
 */
public record ModelConfig(
    String name,
    Criticality criticality,
    List<TargetModel> targets,
    TimeoutsConfig timeouts,
    ModelQueueConfig queue,
    LatencyConfig latency) {

  public ModelConfig {
    targets = List.copyOf(targets);
  }

  /** A model whose requests ask for nothing by themselves. */
  public ModelConfig(
      String name,
      Criticality criticality,
      List<TargetModel> targets,
      TimeoutsConfig timeouts,
      ModelQueueConfig queue) {
    this(name, criticality, targets, timeouts, queue, LatencyConfig.UNSET);
  }

  /** A model that waits as all do. */
  public ModelConfig(
      String name, Criticality criticality, List<TargetModel> targets, TimeoutsConfig timeouts) {
    this(name, criticality, targets, timeouts, ModelQueueConfig.DEFAULT);
  }

  /** A model with the pool's timeouts. */
  public ModelConfig(String name, Criticality criticality, List<TargetModel> targets) {
    this(name, criticality, targets, TimeoutsConfig.UNSET);
  }
}
