package io.fairlead.lab.workload;

import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.LatencyConfig;

/**
 * A model that a workload's requests ask for.
 *
 * @param name as in {@link RequestShape#model()}
 * @param criticality of its requests
 * @param adapter whether it is a LoRA adapter, and not the base model
 * @param latency what its requests ask for; where nothing, the objectives of the run say what is
 *     good
 */
public record ServedModel(
    String name, Criticality criticality, boolean adapter, LatencyConfig latency) {

  /** A model whose requests ask for nothing. */
  public ServedModel(String name, Criticality criticality, boolean adapter) {
    this(name, criticality, adapter, LatencyConfig.UNSET);
  }
}
