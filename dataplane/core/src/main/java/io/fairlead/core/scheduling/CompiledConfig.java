package io.fairlead.core.scheduling;

import io.fairlead.crds.config.PoolConfig;

/** A config document with its plugins made and its references resolved: ready to be applied. */
public final class CompiledConfig {

  private final PoolConfig source;

  CompiledConfig(PoolConfig source) {
    this.source = source;
  }

  /** The document that this was compiled from. */
  public PoolConfig source() {
    return source;
  }
}
