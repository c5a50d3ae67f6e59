package io.fairlead.crds.convert;

/** Which generation of kinds is wanted. */
public enum Direction {
  /**
   * Upstream's kinds of today: InferencePool of the settled group, InferenceObjective and
   * InferenceModelRewrite.
   */
  NEW,
  /** The kinds before: InferencePool v1alpha2 and InferenceModel. */
  OLD
}
