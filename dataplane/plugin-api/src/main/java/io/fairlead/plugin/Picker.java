package io.fairlead.plugin;

/** Chooses among the scored candidates. */
public non-sealed interface Picker extends Plugin {

  /**
   * Writes the chosen candidates' indexes into {@code picked}, best first. Must not favour anybody
   * for standing first in the list: ties are broken by {@link InferenceRequest#seed()}.
   *
   * @param scores weighted sums, one per candidate, each at least 0
   * @param picked at least {@link Candidates#size()} long
   * @return how many were chosen, at least 1; there is at least one candidate
   */
  int pick(InferenceRequest request, Candidates candidates, double[] scores, int[] picked);
}
