package io.fairlead.crds.config;

import java.util.List;

/**
 * A model name that clients may ask for, how important its requests are, and what serves it.
 *
 * @param name the {@code model} field of a request
 * @param criticality how its requests fare when the pool is short of capacity
 * @param targets what the name is replaced by; never empty (a model without targets is its own)
 */
public record ModelConfig(String name, Criticality criticality, List<TargetModel> targets) {

  public ModelConfig {
    targets = List.copyOf(targets);
  }
}
