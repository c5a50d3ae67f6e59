package io.fairlead.stub.server;

import io.fairlead.stub.engine.Engine;
import io.fairlead.stub.engine.SchedulerStats;

/**
 * As SGLang tells them: its counters of tokens grow when a request ends, and of the use of its
 * cache there is the number of tokens, and a share in two digits. The size of the cache is there
 * twice: until 0.5.10 it was in labels, since then it is in gauges of its own. Of adapters nothing
 * is told.
 */
final class SglangMetrics implements MetricsPage {

  private final ModelServerConfig config;
  private final String labels;

  SglangMetrics(ModelServerConfig config) {
    this.config = config;
    labels =
        "engine_type=\"unified\",model_name=\"%s\",moe_ep_rank=\"0\",pp_rank=\"0\",tp_rank=\"0\""
            .formatted(PageText.escape(config.models().getFirst()));
  }

  @Override
  public String contentType() {
    return "text/plain; version=0.0.4; charset=utf-8";
  }

  @Override
  public String render(Engine engine, ServerStats stats, LoraSeries adapters, ServingTimes times) {
    int blockTokens = config.profile().blockTokens();
    long tokens = (long) engine.blocks() * blockTokens;
    SchedulerStats published = engine.published();
    long used = (long) published.usedBlocks() * blockTokens;
    PageText page = new PageText(labels);
    page.gauge("sglang:num_running_reqs", "Requests in the batch.", published.running());
    page.gauge("sglang:num_queue_reqs", "Requests in the queue.", published.waiting());
    page.gauge("sglang:num_used_tokens", "Tokens in use.", (double) used);
    page.gauge(
        "sglang:token_usage",
        "KV cache in use, 1 is all of it.",
        Math.round(100.0 * published.usedBlocks() / engine.blocks()) / 100.0);
    page.gauge("sglang:max_total_num_tokens", "Tokens that fit.", (double) tokens);
    page.gauge(
        "sglang:cache_hit_rate",
        "Share of prompt tokens found in the cache.",
        published.cachedTokens() / (double) Math.max(1, published.promptTokens()));
    page.counter("sglang:prompt_tokens_total", "Prompt tokens.", times.promptTokens());
    page.counter("sglang:generation_tokens_total", "Output tokens.", times.outputTokens());
    page.counter("sglang:num_requests_total", "Requests ended.", (double) stats.completed());
    page.counter(
        "sglang:num_aborted_requests_total", "Requests cut short.", (double) stats.cancelled());
    page.gauge("sglang:page_size", "Tokens per page.", blockTokens);
    page.gauge("sglang:num_pages", "Pages.", engine.blocks());
    page.family("sglang:cache_config_info", "gauge", "Configuration of the KV cache.");
    page.sample(
        "sglang:cache_config_info",
        labels + ",num_pages=\"%d\",page_size=\"%d\"".formatted(engine.blocks(), blockTokens),
        1);
    return page.toString();
  }
}
