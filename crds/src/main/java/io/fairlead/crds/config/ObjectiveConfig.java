package io.fairlead.crds.config;

/**
 * What a request may say that it is for, by a header with this name.
 *
 * @param name of the InferenceObjective
 * @param priority the larger, the more important; below 0 is sheddable
 */
public record ObjectiveConfig(String name, long priority) {

  /** How its requests fare when the pool is short of capacity. */
  public Criticality criticality() {
    return priority > 0
        ? Criticality.CRITICAL
        : priority == 0 ? Criticality.STANDARD : Criticality.SHEDDABLE;
  }
}
