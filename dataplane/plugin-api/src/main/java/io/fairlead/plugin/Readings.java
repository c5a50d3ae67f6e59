package io.fairlead.plugin;

/**
 * Takes what one page says of an endpoint. Of several sources that tell the same the one that is
 * listed first counts, the server's own metrics before all.
 *
 * <p>The keys below are what the scheduler itself knows of a server: a source that tells them adds
 * an engine. Any other key is for whom it may concern.
 */
public interface Readings {

  /** Number: requests in the server's queue. */
  String WAITING = "waiting";

  /** Number: requests in its batch. */
  String RUNNING = "running";

  /** Number: share of the KV cache in use, 0 to 1. */
  String KV_USAGE = "kvUsage";

  /** Number: tokens per KV block. */
  String BLOCK_SIZE = "kvBlockSize";

  /** Number: KV blocks in all. */
  String BLOCKS = "kvBlocks";

  /** Text: what the server calls the model that adapters are added to. */
  String BASE_MODEL = "baseModel";

  /** Number: LoRA adapters that can be active at once. */
  String MAX_ADAPTERS = "maxAdapters";

  /** Text: LoRA adapters with requests in the batch, separated by commas. */
  String RUNNING_ADAPTERS = "runningAdapters";

  /** Text: LoRA adapters with requests in the queue, separated by commas. */
  String WAITING_ADAPTERS = "waitingAdapters";

  /** Number: when the server's process started, in seconds of Unix time. */
  String STARTED_AT = "startedAt";

  /** Number: prompt tokens computed since it started. */
  String PROMPT_TOKENS = "promptTokens";

  /** Number: tokens of answers produced since it started. */
  String OUTPUT_TOKENS = "outputTokens";

  /**
   * Number: tokens of requests in the KV cache, to the last one. Where the two before are told only
   * when a request ends, this shows meanwhile that the server works.
   */
  String USED_TOKENS = "usedTokens";

  /** A number; NaN, and one that the key's meaning rules out, is ignored. */
  void number(String key, double value);

  /** A text, for keys that name one; ignored for others. */
  void text(String key, String value);
}
