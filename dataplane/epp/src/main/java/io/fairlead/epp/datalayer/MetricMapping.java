package io.fairlead.epp.datalayer;

import static io.fairlead.plugin.Readings.BASE_MODEL;
import static io.fairlead.plugin.Readings.BLOCKS;
import static io.fairlead.plugin.Readings.BLOCK_SIZE;
import static io.fairlead.plugin.Readings.KV_USAGE;
import static io.fairlead.plugin.Readings.MAX_ADAPTERS;
import static io.fairlead.plugin.Readings.OUTPUT_TOKENS;
import static io.fairlead.plugin.Readings.PROMPT_TOKENS;
import static io.fairlead.plugin.Readings.RUNNING;
import static io.fairlead.plugin.Readings.RUNNING_ADAPTERS;
import static io.fairlead.plugin.Readings.STARTED_AT;
import static io.fairlead.plugin.Readings.USED_TOKENS;
import static io.fairlead.plugin.Readings.WAITING;
import static io.fairlead.plugin.Readings.WAITING_ADAPTERS;

import io.fairlead.core.scheduling.EngineMetrics;
import io.fairlead.core.scheduling.EngineSeries;
import io.fairlead.core.scheduling.Series;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which series of a metrics page mean what.
 *
 * @param entries what to look for; of several for one key the first that is known counts
 */
record MetricMapping(List<Entry> entries) {

  private static final String MODEL_LABEL = "model_name";

  MetricMapping {
    entries = List.copyOf(entries);
  }

  /** What vLLM calls them. Ranks of one pod come as one series per {@code engine} label. */
  static final MetricMapping VLLM =
      new MetricMapping(
          List.of(
              Entry.value(WAITING, "vllm:num_requests_waiting", Fold.SUM),
              Entry.value(RUNNING, "vllm:num_requests_running", Fold.SUM),
              Entry.value(KV_USAGE, "vllm:kv_cache_usage_perc", Fold.MAX),
              Entry.value(KV_USAGE, "vllm:gpu_cache_usage_perc", Fold.MAX),
              Entry.label(BLOCK_SIZE, "vllm:cache_config_info", "block_size", Fold.MAX),
              Entry.label(BLOCKS, "vllm:cache_config_info", "num_gpu_blocks", Fold.SUM),
              Entry.text(BASE_MODEL, "vllm:num_requests_running", MODEL_LABEL, Fold.FIRST),
              Entry.label(MAX_ADAPTERS, "vllm:lora_requests_info", "max_lora", Fold.NEWEST),
              Entry.text(
                  RUNNING_ADAPTERS,
                  "vllm:lora_requests_info",
                  "running_lora_adapters",
                  Fold.NEWEST),
              Entry.text(
                  WAITING_ADAPTERS,
                  "vllm:lora_requests_info",
                  "waiting_lora_adapters",
                  Fold.NEWEST),
              started(),
              Entry.value(PROMPT_TOKENS, "vllm:prompt_tokens_total", Fold.SUM),
              Entry.value(OUTPUT_TOKENS, "vllm:generation_tokens_total", Fold.SUM)));

  /** Its counters of tokens grow when requests end. */
  private static final MetricMapping SGLANG =
      new MetricMapping(
          List.of(
              Entry.value(WAITING, "sglang:num_queue_reqs", Fold.SUM),
              Entry.value(RUNNING, "sglang:num_running_reqs", Fold.SUM),
              Entry.value(KV_USAGE, "sglang:token_usage", Fold.MAX),
              Entry.label(BLOCK_SIZE, "sglang:cache_config_info", "page_size", Fold.MAX),
              Entry.label(BLOCKS, "sglang:cache_config_info", "num_pages", Fold.SUM),
              Entry.text(BASE_MODEL, "sglang:num_running_reqs", MODEL_LABEL, Fold.FIRST),
              started(),
              Entry.value(PROMPT_TOKENS, "sglang:prompt_tokens_total", Fold.SUM),
              Entry.value(OUTPUT_TOKENS, "sglang:generation_tokens_total", Fold.SUM),
              Entry.value(USED_TOKENS, "sglang:num_used_tokens", Fold.SUM)));

  private static final MetricMapping TRTLLM =
      new MetricMapping(
          List.of(
              Entry.value(WAITING, "trtllm_num_requests_waiting", Fold.SUM),
              Entry.value(RUNNING, "trtllm_num_requests_running", Fold.SUM),
              Entry.value(KV_USAGE, "trtllm_kv_cache_utilization", Fold.MAX),
              Entry.value(BLOCK_SIZE, "trtllm_kv_cache_tokens_per_block", Fold.MAX),
              Entry.value(BLOCKS, "trtllm_kv_cache_max_blocks", Fold.SUM),
              started()));

  private static final MetricMapping TRITON_TENSORRT =
      new MetricMapping(
          List.of(
              triton(WAITING, "nv_trt_llm_request_metrics", "request_type", "waiting", Fold.SUM),
              triton(RUNNING, "nv_trt_llm_request_metrics", "request_type", "scheduled", Fold.SUM),
              tritonCache(KV_USAGE, "fraction", Fold.MAX),
              tritonCache(BLOCK_SIZE, "tokens_per", Fold.MAX),
              tritonCache(BLOCKS, "max", Fold.SUM)));

  private static final MetricMapping TRITON =
      new MetricMapping(
          List.of(
              Entry.value(WAITING, "nv_inference_pending_request_count", Fold.SUM),
              Entry.value(RUNNING, "nv_inference_exec_count", Fold.SUM)));

  /** How several matching series become one. */
  enum Fold {
    /** Their sum. */
    SUM,
    /** The largest. */
    MAX,
    /** That of the series with the largest sample value (a timestamp, in info series). */
    NEWEST,
    /** That of the first on the page. */
    FIRST
  }

  /**
   * One series to look for.
   *
   * @param key what it tells
   * @param name exact name of the series
   * @param selector labels that it must carry with exactly these values
   * @param fold what to do with several; texts have no sum and no largest
   * @param label the label that tells, or null for the sample's value
   * @param text whether the label's text counts, not the number that it is
   */
  record Entry(
      String key,
      String name,
      Map<String, String> selector,
      Fold fold,
      @Nullable String label,
      boolean text) {

    Entry {
      selector = Map.copyOf(selector);
      if (name.isEmpty()) {
        throw new IllegalArgumentException("name is empty; set the series to look for");
      }
      if (text && (label == null || fold == Fold.SUM || fold == Fold.MAX)) {
        throw new IllegalArgumentException("a text comes from a label, of one series");
      }
    }

    static Entry value(String key, String name, Fold fold) {
      return new Entry(key, name, Map.of(), fold, null, false);
    }

    static Entry label(String key, String name, String label, Fold fold) {
      return new Entry(key, name, Map.of(), fold, label, false);
    }

    static Entry text(String key, String name, String label, Fold fold) {
      return new Entry(key, name, Map.of(), fold, label, true);
    }

    /** Whether it tells of the process's life, not of its load. */
    boolean ofProcess() {
      return switch (key) {
        case STARTED_AT, PROMPT_TOKENS, OUTPUT_TOKENS, USED_TOKENS -> true;
        default -> false;
      };
    }

    private static Entry of(String key, Series series, Fold fold) {
      return new Entry(key, series.name(), series.labels(), fold, null, false);
    }

    private static Entry of(
        String key, Series series, Fold fold, @Nullable String label, boolean text) {
      return new Entry(key, series.name(), series.labels(), fold, label, text);
    }
  }

  /** What to read of a pod with these labels. */
  static MetricMapping of(List<EngineMetrics> settings, Map<String, String> labels) {
    List<Entry> all = new ArrayList<>();
    for (EngineMetrics metrics : settings) {
      all.addAll(of(metrics, labels).entries);
    }
    return new MetricMapping(all);
  }

  private static MetricMapping of(EngineMetrics metrics, Map<String, String> labels) {
    String named =
        metrics.labelKeys().stream()
            .filter(labels::containsKey)
            .map(labels::get)
            .findFirst()
            .orElse(metrics.defaultEngine());
    MetricMapping known = engine(metrics, named);
    // An engine that nobody knows most likely speaks as its neighbours do.
    MetricMapping engine = known == null ? engine(metrics, metrics.defaultEngine()) : known;
    List<Entry> all = new ArrayList<>(engine == null ? List.of() : engine.entries);
    for (EngineMetrics.Custom custom : metrics.custom()) {
      all.add(Entry.of(custom.key(), custom.series(), Fold.FIRST));
    }
    return new MetricMapping(all);
  }

  private static @Nullable MetricMapping engine(EngineMetrics metrics, String name) {
    EngineSeries configured = metrics.engines().get(name);
    return configured == null ? builtIn(name) : of(configured, builtIn(name));
  }

  static @Nullable MetricMapping builtIn(String engine) {
    return switch (engine) {
      case "vllm" -> VLLM;
      case "sglang" -> SGLANG;
      case "trtllm-serve" -> TRTLLM;
      case "triton-tensorrt-llm" -> TRITON_TENSORRT;
      case "triton" -> TRITON;
      default -> null;
    };
  }

  /** Documents have no words for a server's start and progress: these stay the built-in ones. */
  private static MetricMapping of(EngineSeries names, @Nullable MetricMapping replaced) {
    List<Entry> all = new ArrayList<>();
    if (replaced == null) {
      all.add(started());
    } else {
      replaced.entries.stream().filter(Entry::ofProcess).forEach(all::add);
    }
    add(all, WAITING, names.waiting(), Fold.SUM);
    add(all, RUNNING, names.running(), Fold.SUM);
    add(all, KV_USAGE, names.kvUsage(), Fold.MAX);
    add(all, BLOCK_SIZE, names.blockSize(), Fold.MAX);
    add(all, BLOCKS, names.blocks(), Fold.SUM);
    Series cache = names.cacheInfo();
    if (cache != null) {
      all.add(Entry.of(BLOCK_SIZE, cache, Fold.MAX, names.blockSizeLabel(), false));
      all.add(Entry.of(BLOCKS, cache, Fold.SUM, names.blocksLabel(), false));
    }
    Series running = names.running();
    if (running != null) {
      all.add(Entry.of(BASE_MODEL, running, Fold.FIRST, MODEL_LABEL, true));
    }
    Series lora = names.lora();
    if (lora != null) {
      all.add(Entry.of(MAX_ADAPTERS, lora, Fold.NEWEST, "max_lora", false));
      all.add(Entry.of(RUNNING_ADAPTERS, lora, Fold.NEWEST, "running_lora_adapters", true));
      all.add(Entry.of(WAITING_ADAPTERS, lora, Fold.NEWEST, "waiting_lora_adapters", true));
    }
    return new MetricMapping(all);
  }

  private static void add(List<Entry> all, String key, @Nullable Series series, Fold fold) {
    if (series != null) {
      all.add(Entry.of(key, series, fold));
    }
  }

  /** The newest, if several processes share a page: any that starts anew is to be seen. */
  private static Entry started() {
    return Entry.value(STARTED_AT, "process_start_time_seconds", Fold.MAX);
  }

  private static Entry triton(String key, String name, String label, String value, Fold fold) {
    return new Entry(key, name, Map.of(label, value), fold, null, false);
  }

  private static Entry tritonCache(String key, String type, Fold fold) {
    return triton(key, "nv_trt_llm_kv_cache_block_metrics", "kv_cache_block_type", type, fold);
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
