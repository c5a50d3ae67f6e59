package io.fairlead.core.scheduling;

import io.fairlead.plugin.Parameters;
import org.jspecify.annotations.Nullable;

/**
 * What an engine that a document names calls its metrics; null for what it does not tell.
 *
 * @param waiting requests in the queue
 * @param running requests in the batch
 * @param kvUsage share of the KV cache in use
 * @param lora the series whose labels tell of LoRA adapters
 * @param cacheInfo the series whose labels tell of the KV cache
 * @param blockSizeLabel its label with the tokens per block
 * @param blocksLabel its label with the number of blocks
 * @param blockSize tokens per block, where it is a series of its own
 * @param blocks number of blocks, where it is a series of its own
 */
public record EngineSeries(
    @Nullable Series waiting,
    @Nullable Series running,
    @Nullable Series kvUsage,
    @Nullable Series lora,
    @Nullable Series cacheInfo,
    String blockSizeLabel,
    String blocksLabel,
    @Nullable Series blockSize,
    @Nullable Series blocks) {

  static EngineSeries read(Parameters parameters) {
    return new EngineSeries(
        series(parameters, "queuedRequestsSpec"),
        series(parameters, "runningRequestsSpec"),
        series(parameters, "kvUsageSpec"),
        series(parameters, "loraSpec"),
        series(parameters, "cacheInfoSpec"),
        parameters.text("cacheBlockSizeLabelName", "block_size"),
        parameters.text("cacheNumBlocksLabelName", "num_gpu_blocks"),
        series(parameters, "cacheBlockSizeSpec"),
        series(parameters, "cacheNumBlocksSpec"));
  }

  private static @Nullable Series series(Parameters parameters, String field) {
    String text = parameters.anyText(field, "");
    return text.isEmpty() ? null : required(parameters, field, text);
  }

  static Series required(Parameters parameters, String field, String text) {
    try {
      return Series.parse(text);
    } catch (IllegalArgumentException e) {
      throw parameters.invalid(field, String.valueOf(e.getMessage()));
    }
  }
}
