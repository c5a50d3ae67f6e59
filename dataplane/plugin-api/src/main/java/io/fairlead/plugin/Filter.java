package io.fairlead.plugin;

/** Takes endpoints out of the running for one request. */
public non-sealed interface Filter extends Plugin {

  /**
   * Clears {@code keep[i]} for each candidate that must not get the request.
   *
   * @param keep all true on entry for indexes below {@link Candidates#size()}; longer than that
   */
  void filter(InferenceRequest request, Candidates candidates, boolean[] keep);

  /**
   * Which endpoints it keeps, for people who ask why one got no request: to be read after its name
   * and "keeps", such as {@code endpoints labelled gpu=h100}. Empty where it does not say. Never
   * changes.
   */
  default String keeps() {
    return "";
  }
}
