package io.fairlead.core.view;

import io.fairlead.plugin.InferenceRequest;

/**
 * The hashes of a prompt's blocks, for who keeps an index of its own: every request that a plugin
 * is passed has them. Nothing of a text can be read from them.
 */
public interface PromptBlocks {

  /** Those of a request that a plugin is passed. */
  static PromptBlocks of(InferenceRequest request) {
    return (PromptBlocks) request;
  }

  /**
   * A hash of all of the prompt up to and with a block, the same for prompts for the same target
   * model that begin alike.
   *
   * @param index from 0 to {@link InferenceRequest#blockCount()} - 1
   */
  long prefixHash(int index);
}
