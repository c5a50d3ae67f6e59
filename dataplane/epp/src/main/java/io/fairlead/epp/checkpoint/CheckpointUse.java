package io.fairlead.epp.checkpoint;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What of a picker's state is from its checkpoint now. Written on the control thread, read from
 * any.
 */
public final class CheckpointUse {

  private static final Logger LOG = LoggerFactory.getLogger(CheckpointUse.class);

  private final @Nullable Checkpoint checkpoint;

  /** Origin of what stands in for the config; null while nothing does. */
  private volatile @Nullable String config;

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

  /** Whether the config in force, or about to be, is from the checkpoint. */
  public boolean config() {
    return config != null;
  }

  /** Whether the endpoints are from the checkpoint, and their source has not answered yet. */
  public boolean endpoints() {
    return endpoints;
  }

  /** Has {@code changed} called on the control thread at each change. */
  public void listen(Runnable changed) {
    listener = changed;
  }

  /** A config is offered that is from the checkpoint. */
  void standIn(String origin) {
    config = origin;
    listener.run();
  }

  /** A config of this origin is in force. On the control thread. */
  public void applied(String origin) {
    if (config != null && !config.equals(origin)) {
      config = null;
      LOG.info("{} counts from now on, and no longer the checkpoint", origin);
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
