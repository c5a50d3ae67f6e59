package io.fairlead.plugin;

/**
 * Requests that are treated as of one sender: those of an InferenceModel, or of a fairness id that
 * is trusted. The same object for as long as the pool knows the flow.
 */
public interface Flow {

  /** The model's name or the fairness id; empty for those that share the last place. */
  String id();

  /** Its share relative to that of other flows; above 0. */
  double weight();

  /**
   * Work that was sent of it, in tokens: expected of what is under way, and what it really was of
   * what is over. Never shrinks by more than an expectation that was wrong.
   */
  double served();

  /**
   * {@link #served} by weight, as a time of its own: a flow that begins to wait is put level with
   * the flow that is behind most, so that nobody saves up turns by sending nothing. After the
   * virtual token counters of Sheng et al., Fairness in Serving Large Language Models, OSDI 2024.
   */
  double virtualTime();

  /** The one that goes first of those that wait. */
  WaitingRequest head();

  /** How many wait. */
  int waiting();

  /** When a request of it went last, as a number that grows with each; 0 for never. */
  long lastTurn();
}
