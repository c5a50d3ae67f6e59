package io.fairlead.crds.config;

/**
 * One name that the model servers know, with its share of the traffic.
 *
 * @param name model or adapter name as the model server lists it
 * @param weight share relative to the sum over all targets; 1 to {@link #MOST_WEIGHT}
 */
public record TargetModel(String name, int weight) {
  /** A target can have no more. */
  public static final int MOST_WEIGHT = 1_000_000;
}
