package io.fairlead.stub.server;

import io.fairlead.stub.engine.Engine;
import io.fairlead.stub.engine.SchedulerStats;
import java.util.LinkedHashMap;
import java.util.Map;

/** As vLLM 0.32 tells them, with every {@code vllm:} family of its page. */
final class VllmMetrics implements MetricsPage {

  private final ModelServerConfig config;
  private final double startSeconds;
  private final String model;
  private final String labels;

  VllmMetrics(ModelServerConfig config, double startSeconds) {
    this.config = config;
    this.startSeconds = startSeconds;
    model = "model_name=\"" + PageText.escape(config.models().getFirst()) + "\"";
    labels = "engine=\"0\"," + model;
  }

  @Override
  public String contentType() {
    return "text/plain; version=1.0.0; charset=utf-8";
  }

  @Override
  public String render(Engine engine, ServerStats stats, LoraSeries adapters, ServingTimes times) {
    SchedulerStats published = engine.published();
    PageText page = new PageText(labels);
    page.family("process_start_time_seconds", "gauge", "Start of the server, Unix time.");
    page.sample("process_start_time_seconds", "", startSeconds);
    for (String each : new String[] {"flops", "read_bytes", "write_bytes"}) {
      counter(page, "vllm:estimated_" + each + "_per_gpu", "Not estimated here.", 0);
    }
    load(page, engine, published);
    tokens(page, published);
    requests(page, times);
    for (Histogram each : times.all()) {
      each.write(page, "engine=\"0\"", model, startSeconds);
    }
    configuration(page, engine, adapters);
    return page.toString();
  }

  private void load(PageText page, Engine engine, SchedulerStats published) {
    page.gauge("vllm:num_requests_running", "Requests in the batch.", published.running());
    page.gauge("vllm:num_requests_waiting", "Requests in the queue.", published.waiting());
    gauges(
        page,
        "vllm:num_requests_waiting_by_reason",
        "Requests in the queue, by what they lack.",
        "reason",
        ordered("capacity", published.lackingCapacity(), "deferred", published.deferred()));
    gauges(
        page,
        "vllm:engine_sleep_state",
        "Whether the engine sleeps, and how deeply.",
        "sleep_state",
        ordered("awake", 1, "weights_offloaded", 0, "discard_all", 0));
    page.gauge(
        "vllm:kv_cache_usage_perc",
        "KV cache in use, 1 is all of it.",
        (double) published.usedBlocks() / engine.blocks());
  }

  private void tokens(PageText page, SchedulerStats published) {
    double prompt = published.promptTokens();
    double cached = published.cachedTokens();
    double transferred = published.transferredTokens();
    counter(page, "vllm:prefix_cache_queries", "Tokens looked up.", prompt);
    counter(page, "vllm:prefix_cache_hits", "Tokens found.", cached);
    counter(page, "vllm:external_prefix_cache_queries", "Tokens looked up elsewhere.", 0);
    counter(page, "vllm:external_prefix_cache_hits", "Tokens found elsewhere.", transferred);
    counter(page, "vllm:mm_cache_queries", "Images and the like looked up.", 0);
    counter(page, "vllm:mm_cache_hits", "Images and the like found.", 0);
    counter(page, "vllm:num_preemptions", "Requests set back.", (double) published.preemptions());
    counter(page, "vllm:prompt_tokens", "Prompt tokens.", prompt);
    counters(
        page,
        "vllm:prompt_tokens_by_source",
        "Prompt tokens, by where they are from.",
        "source",
        ordered(
            "local_compute",
            prompt - cached - transferred,
            "local_cache_hit",
            cached,
            "external_kv_transfer",
            transferred));
    counter(page, "vllm:prompt_tokens_cached", "Prompt tokens not computed.", cached + transferred);
    counters(
        page,
        "vllm:prompt_tokens_cached_by_source",
        "Prompt tokens not computed, by where they were.",
        "source",
        ordered(
            "device", cached, "host", 0, "p2p", transferred, "disk", 0, "external_unspecified", 0));
    counter(page, "vllm:generation_tokens", "Output tokens.", (double) published.outputTokens());
  }

  private void requests(PageText page, ServingTimes times) {
    String name = "vllm:request_success";
    Map<String, Double> ended =
        ordered(
            "stop",
            0,
            "length",
            times.completed(),
            "abort",
            times.aborted(),
            "error",
            0,
            "repetition",
            0);
    page.family(name + "_total", "counter", "Requests ended, by reason.");
    ended.forEach((reason, value) -> page.sample(name + "_total", finished(reason), value));
    page.family(name + "_created", "gauge", "Since when it counts.");
    ended.forEach(
        (reason, value) -> page.sample(name + "_created", finished(reason), startSeconds));
    String rejected = "vllm:admission_rejections";
    String[] limits = {"max_num_queued_reqs", "max_num_queued_tokens"};
    page.family(rejected + "_total", "counter", "Requests that a limit of the queue turned away.");
    for (String each : limits) {
      page.sample(rejected + "_total", model + ",reason=\"" + each + "\"", 0);
    }
    page.family(rejected + "_created", "gauge", "Since when it counts.");
    for (String each : limits) {
      page.sample(rejected + "_created", model + ",reason=\"" + each + "\"", startSeconds);
    }
  }

  private void configuration(PageText page, Engine engine, LoraSeries adapters) {
    if (config.maxAdapters() > 0) {
      page.family("vllm:lora_requests_info", "gauge", "Adapters with requests; value is a time.");
      adapters
          .samples()
          .forEach((labels, time) -> page.sample("vllm:lora_requests_info", labels, time));
    }
    page.family("vllm:cache_config_info", "gauge", "Configuration of the KV cache.");
    page.sample("vllm:cache_config_info", CacheConfig.labels(config, engine.blocks()), 1);
  }

  private String finished(String reason) {
    return "engine=\"0\",finished_reason=\"" + reason + "\"," + model;
  }

  private void counter(PageText page, String name, String help, double value) {
    page.counter(name + "_total", help, value);
    page.gauge(name + "_created", "Since when it counts.", startSeconds);
  }

  private void counters(
      PageText page, String name, String help, String label, Map<String, Double> values) {
    page.family(name + "_total", "counter", help);
    values.forEach((value, count) -> page.sample(name + "_total", with(label, value), count));
    page.family(name + "_created", "gauge", "Since when it counts.");
    values.forEach(
        (value, count) -> page.sample(name + "_created", with(label, value), startSeconds));
  }

  private void gauges(
      PageText page, String name, String help, String label, Map<String, Double> values) {
    page.family(name, "gauge", help);
    values.forEach((value, count) -> page.sample(name, with(label, value), count));
  }

  private String with(String label, String value) {
    return labels + "," + label + "=\"" + value + "\"";
  }

  /** Pairs of a name and a number, in this order. */
  private static Map<String, Double> ordered(Object... pairs) {
    Map<String, Double> ordered = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      ordered.put((String) pairs[i], ((Number) pairs[i + 1]).doubleValue());
    }
    return ordered;
  }
}
