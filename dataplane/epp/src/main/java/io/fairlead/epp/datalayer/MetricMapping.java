package io.fairlead.epp.datalayer;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which series of an engine's metrics page mean what.
 *
 * @param entries what to look for; of several for one quantity the first that is known counts
 */
public record MetricMapping(List<Entry> entries) {

  public MetricMapping {
    entries = List.copyOf(entries);
  }

  /** What vLLM calls them. Ranks of one pod come as one series per {@code engine} label. */
  public static final MetricMapping VLLM =
      new MetricMapping(
          List.of(
              Entry.value(Quantity.WAITING, "vllm:num_requests_waiting", Fold.SUM),
              Entry.value(Quantity.RUNNING, "vllm:num_requests_running", Fold.SUM),
              Entry.value(Quantity.KV_USAGE, "vllm:kv_cache_usage_perc", Fold.MAX),
              Entry.value(Quantity.KV_USAGE, "vllm:gpu_cache_usage_perc", Fold.MAX),
              Entry.label(Quantity.BLOCK_SIZE, "vllm:cache_config_info", "block_size", Fold.MAX),
              Entry.label(Quantity.BLOCKS, "vllm:cache_config_info", "num_gpu_blocks", Fold.SUM)));

  /** What the scheduler wants to know of an engine. */
  public enum Quantity {
    /** Requests in the engine's queue. */
    WAITING,
    /** Requests in its batch. */
    RUNNING,
    /** Share of the KV cache in use, 0 to 1. */
    KV_USAGE,
    /** Tokens per KV block. */
    BLOCK_SIZE,
    /** KV blocks in all. */
    BLOCKS
  }

  /** How several matching series become one number. */
  public enum Fold {
    /** Their sum. */
    SUM,
    /** The largest. */
    MAX,
    /** That of the series with the largest sample value (a timestamp, in info series). */
    NEWEST
  }

  /**
   * One series to look for.
   *
   * @param quantity what it tells
   * @param name exact name of the series
   * @param selector labels that it must carry with exactly these values
   * @param fold what to do with several
   * @param label the label whose text is the number, or null to take the sample's value
   */
  public record Entry(
      Quantity quantity,
      String name,
      Map<String, String> selector,
      Fold fold,
      @Nullable String label) {

    public Entry {
      selector = Map.copyOf(selector);
      if (name.isEmpty()) {
        throw new IllegalArgumentException("name is empty; set the series to look for");
      }
    }

    static Entry value(Quantity quantity, String name, Fold fold) {
      return new Entry(quantity, name, Map.of(), fold, null);
    }

    static Entry label(Quantity quantity, String name, String label, Fold fold) {
      return new Entry(quantity, name, Map.of(), fold, label);
    }
  }

  /** A label's value as it stands between quotes on the page. */
  static byte[] escaped(String value) {
    return value
        .replace("\\", "\\\\")
        .replace("\"", "\\\"")
        .replace("\n", "\\n")
        .getBytes(StandardCharsets.UTF_8);
  }
}
