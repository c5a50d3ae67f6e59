package io.fairlead.epp.checkpoint;

import org.jspecify.annotations.Nullable;

/**
 * What of a picker's state is from its checkpoint now. Written on the control thread, read from
 * any.
 */
public final class CheckpointUse {

  private final @Nullable Checkpoint checkpoint;
  private volatile boolean config;
  private volatile boolean endpoints;
  private Runnable listener = () -> {};

  /**
   * Nothing is, yet.
   *
   * @param checkpoint what there is to use; null for nothing
   */
  public CheckpointUse(@Nullable Checkpoint checkpoint) {
    this.checkpoint = checkpoint;
  }

  /** What there is to use; null for nothing. */
  public @Nullable Checkpoint checkpoint() {
    return checkpoint;
  }

  /** Whether the config in force is from the checkpoint, and its source has not answered yet. */
  public boolean config() {
    return config;
  }

  /** Whether the endpoints are from the checkpoint, and their source has not answered yet. */
  public boolean endpoints() {
    return endpoints;
  }

  /** Has {@code changed} called on the control thread, before what comes instead is offered. */
  public void listen(Runnable changed) {
    listener = changed;
  }

  void config(boolean used) {
    boolean changed = config != used;
    config = used;
    if (changed) {
      listener.run();
    }
  }

  void endpoints(boolean used) {
    boolean changed = endpoints != used;
    endpoints = used;
    if (changed) {
      listener.run();
    }
  }
}
