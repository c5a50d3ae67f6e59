package io.fairlead.stub.server;

import io.fairlead.stub.engine.Engine;

/** As vLLM 0.32 tells them. */
final class VllmMetrics implements MetricsPage {

  private final ModelServerConfig config;
  private final double startSeconds;
  private final String model;

  VllmMetrics(ModelServerConfig config, double startSeconds) {
    this.config = config;
    this.startSeconds = startSeconds;
    model = "model_name=\"" + PageText.escape(config.models().getFirst()) + "\"";
  }

  @Override
  public String contentType() {
    return "text/plain; version=1.0.0; charset=utf-8";
  }

  @Override
  public String render(Engine engine, ServerStats stats, LoraSeries adapters) {
    PageText page = new PageText("engine=\"0\"," + model);
    page.family("process_start_time_seconds", "gauge", "Start of the server, Unix time.");
    page.sample("process_start_time_seconds", "", startSeconds);
    page.gauge("vllm:num_requests_running", "Requests in the batch.", stats.running());
    page.gauge("vllm:num_requests_waiting", "Requests in the queue.", stats.waiting());
    page.gauge("vllm:kv_cache_usage_perc", "KV cache in use, 1 is all of it.", stats.kvUsage());
    page.counter(
        "vllm:prefix_cache_queries_total", "Tokens looked up.", (double) engine.promptTokens());
    page.counter("vllm:prefix_cache_hits_total", "Tokens found.", (double) engine.cachedTokens());
    page.counter("vllm:num_preemptions_total", "Requests set back.", (double) engine.preemptions());
    page.counter("vllm:prompt_tokens_total", "Prompt tokens.", (double) engine.promptTokens());
    page.counter("vllm:generation_tokens_total", "Output tokens.", (double) engine.outputTokens());
    page.family("vllm:request_success_total", "counter", "Requests ended, by reason.");
    page.sample("vllm:request_success_total", reason("length"), (double) stats.completed());
    page.sample("vllm:request_success_total", reason("abort"), (double) stats.cancelled());
    page.family("vllm:cache_config_info", "gauge", "Configuration of the KV cache.");
    page.sample(
        "vllm:cache_config_info",
        "block_size=\"%d\",cache_dtype=\"auto\",enable_prefix_caching=\"True\",engine=\"0\",num_cpu_blocks=\"None\",num_gpu_blocks=\"%d\""
            .formatted(config.profile().blockTokens(), engine.blocks()),
        1);
    if (config.maxAdapters() > 0) {
      page.family("vllm:lora_requests_info", "gauge", "Adapters with requests; value is a time.");
      adapters
          .samples()
          .forEach((labels, time) -> page.sample("vllm:lora_requests_info", labels, time));
    }
    return page.toString();
  }

  private String reason(String reason) {
    return "engine=\"0\",finished_reason=\"" + reason + "\"," + model;
  }
}
