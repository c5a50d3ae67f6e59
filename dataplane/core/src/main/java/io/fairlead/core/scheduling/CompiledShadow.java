package io.fairlead.core.scheduling;

/** A scheduling that is tried beside the one in force, ready to be applied to a core of its own. */
public final class CompiledShadow {

  private final String name;
  private final CompiledConfig config;
  private final boolean ofItsOwn;

  /** Read where configs are compiled, by another thread than that of the shadow. */
  private volatile boolean spoiled;

  CompiledShadow(String name, CompiledConfig config, boolean ofItsOwn) {
    this.name = name;
    this.config = config;
    this.ofItsOwn = ofItsOwn;
  }

  /** Unique in the pool. */
  public String name() {
    return name;
  }

  /**
   * The pool as the shadow sees it: nobody waits and nothing is kept of decisions, since it is
   * asked when a request has been sent.
   */
  public CompiledConfig config() {
    return config;
  }

  /** Whether it shares no plugin with the one of its name that was in force before. */
  public boolean isOfItsOwn() {
    return ofItsOwn;
  }

  /**
   * It was switched off: a thread that can't be ended may be in its plugins, or one of them is
   * broken. What is compiled from now on has none of them. Any thread.
   */
  public void spoil() {
    spoiled = true;
  }

  boolean isSpoiled() {
    return spoiled;
  }
}
