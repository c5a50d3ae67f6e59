package io.fairlead.epp.config;

import java.util.function.Consumer;

/** A place that a config is read from, again whenever it changes. */
public interface ConfigSource extends AutoCloseable {

  /**
   * Begins to watch and returns at once. A source that can't be reached yet keeps trying.
   *
   * @param sink gets every state seen, the first included, one call at a time, on a thread of the
   *     source's own
   */
  void start(Consumer<ConfigOffer> sink);

  /** Reads once, without watching; may block. */
  ConfigOffer read();

  @Override
  void close();
}
