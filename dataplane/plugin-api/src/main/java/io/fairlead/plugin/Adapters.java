package io.fairlead.plugin;

/**
 * LoRA adapters of one endpoint: what the server reports, and what this picker placed there, which
 * the server shows late or, for idle adapters, not at all.
 */
public interface Adapters {

  /** Most adapters that can be active at once; 0 when LoRA is off or nothing is known. */
  int slots();

  /** Adapters believed to be loaded, no more than {@link #slots()}. */
  int loaded();

  /**
   * The fewest requests in flight of an adapter that holds a slot: 0 when there is a slot that is
   * free or can be made so. Else a further adapter waits until one has none left.
   */
  int leastInFlight();

  /** Whether requests for this target need an adapter there: LoRA is on and it is no base model. */
  boolean needed(String targetModel);

  /** Whether the adapter is believed to be loaded. */
  boolean resident(String adapter);

  /** Whether the server said that requests of this adapter run there. */
  boolean running(String adapter);

  /** Whether the server said that requests of this adapter wait there. */
  boolean waiting(String adapter);

  /** Adapters that the server said are running or waiting. */
  int reported();

  /**
   * Whether the server told of more adapters than it has {@link #slots}: requests in its queue may
   * wait for the turn of their adapter, and not for room that those of others would take.
   */
  default boolean contended() {
    return slots() > 0 && reported() > slots();
  }
}
