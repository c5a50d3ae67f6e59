package io.fairlead.lab.workload;

import io.fairlead.crds.config.Criticality;

/**
 * A model that a workload's requests ask for.
 *
 * @param name as in {@link RequestShape#model()}
 * @param criticality of its requests
 * @param adapter whether it is a LoRA adapter, and not the base model
 */
public record ServedModel(String name, Criticality criticality, boolean adapter) {}
