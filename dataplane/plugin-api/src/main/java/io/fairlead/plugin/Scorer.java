package io.fairlead.plugin;

/** Says how well each endpoint suits one request. */
public non-sealed interface Scorer extends Plugin {

  /**
   * Fills {@code scores[i]} for each candidate with a value in [0, 1], higher being better. Values
   * outside are clamped, NaN counts as 0. The profile multiplies by the configured weight and sums.
   *
   * @param scores at least {@link Candidates#size()} long; contents on entry are undefined
   */
  void score(InferenceRequest request, Candidates candidates, double[] scores);
}
