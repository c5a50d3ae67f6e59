package io.fairlead.epp.config;

import io.fairlead.crds.config.PoolConfig;
import io.fairlead.epp.datalayer.EndpointSet;
import org.jspecify.annotations.Nullable;

/** One state of a config source: something to run, or the reason why it can't be read. */
public sealed interface ConfigOffer {

  /** Where it came from, for messages: a file, a folder, a ConfigMap. */
  String origin();

  /** Changes with every byte of the source: tells a new state from one seen before. */
  String contentHash();

  /**
   * A document that could be read.
   *
   * @param config what to run
   * @param configHash hash of the canonical document: what is reported as running
   * @param endpoints endpoints that came with it, null when they come from elsewhere
   * @param scheduling where its scheduling part stands
   */
  record Document(
      String origin,
      String contentHash,
      PoolConfig config,
      String configHash,
      @Nullable EndpointSet endpoints,
      SchedulingPlace scheduling)
      implements ConfigOffer {}

  /**
   * A state that can't be read.
   *
   * @param message file, field path and reason of every problem
   */
  record Unreadable(String origin, String contentHash, String message) implements ConfigOffer {}
}
