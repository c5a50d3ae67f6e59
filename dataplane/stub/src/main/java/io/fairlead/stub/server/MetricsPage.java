package io.fairlead.stub.server;

import io.fairlead.stub.engine.Engine;
import java.util.Locale;

/** The engine's metrics, under the names and labels of vLLM 0.32. */
final class MetricsPage {

  static final String CONTENT_TYPE = "text/plain; version=1.0.0; charset=utf-8";

  private final ModelServerConfig config;
  private final String labels;
  private final double startSeconds;

  MetricsPage(ModelServerConfig config, double startSeconds) {
    this.config = config;
    this.startSeconds = startSeconds;
    labels = "engine=\"0\",model_name=\"" + escape(config.models().getFirst()) + "\"";
  }

  String render(Engine engine, ServerStats stats, LoraSeries adapters) {
    StringBuilder page = new StringBuilder(4096);
    family(page, "process_start_time_seconds", "gauge", "Start of the server, Unix time.");
    sample(page, "process_start_time_seconds", "", startSeconds);
    family(page, "vllm:num_requests_running", "gauge", "Requests in the batch.");
    sample(page, "vllm:num_requests_running", labels, stats.running());
    family(page, "vllm:num_requests_waiting", "gauge", "Requests in the queue.");
    sample(page, "vllm:num_requests_waiting", labels, stats.waiting());
    family(page, "vllm:kv_cache_usage_perc", "gauge", "KV cache in use, 1 is all of it.");
    sample(page, "vllm:kv_cache_usage_perc", labels, stats.kvUsage());
    counter(page, "vllm:prefix_cache_queries_total", "Tokens looked up.", engine.promptTokens());
    counter(page, "vllm:prefix_cache_hits_total", "Tokens found.", engine.cachedTokens());
    counter(page, "vllm:num_preemptions_total", "Requests set back.", engine.preemptions());
    counter(page, "vllm:prompt_tokens_total", "Prompt tokens.", engine.promptTokens());
    counter(page, "vllm:generation_tokens_total", "Output tokens.", engine.outputTokens());
    family(page, "vllm:request_success_total", "counter", "Requests ended, by reason.");
    sample(page, "vllm:request_success_total", reason("length"), (double) stats.completed());
    sample(page, "vllm:request_success_total", reason("abort"), (double) stats.cancelled());
    family(page, "vllm:cache_config_info", "gauge", "Configuration of the KV cache.");
    sample(
        page,
        "vllm:cache_config_info",
        "block_size=\"%d\",cache_dtype=\"auto\",enable_prefix_caching=\"True\",engine=\"0\",num_cpu_blocks=\"None\",num_gpu_blocks=\"%d\""
            .formatted(config.profile().blockTokens(), engine.blocks()),
        1);
    if (config.maxAdapters() > 0) {
      family(page, "vllm:lora_requests_info", "gauge", "Adapters with requests; value is a time.");
      adapters
          .samples()
          .forEach((labels, time) -> sample(page, "vllm:lora_requests_info", labels, time));
    }
    return page.toString();
  }

  private String reason(String reason) {
    return "engine=\"0\",finished_reason=\""
        + reason
        + "\","
        + labels.substring(labels.indexOf(',') + 1);
  }

  private void counter(StringBuilder page, String name, String help, long value) {
    family(page, name, "counter", help);
    sample(page, name, labels, (double) value);
  }

  private static void family(StringBuilder page, String name, String type, String help) {
    page.append("# HELP ").append(name).append(' ').append(help).append('\n');
    page.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  private static void sample(StringBuilder page, String name, String labels, double value) {
    page.append(name);
    if (!labels.isEmpty()) {
      page.append('{').append(labels).append('}');
    }
    page.append(' ').append(number(value)).append('\n');
  }

  /**
   * As Python's client prints it: {@code 3.0}, and {@code 1.5e+09} where Java says {@code 1.5E9}.
   */
  static String number(double value) {
    String text = Double.toString(value);
    int exponent = text.indexOf('E');
    if (exponent < 0) {
      return text;
    }
    return String.format(
        Locale.ROOT,
        "%se%+03d",
        text.substring(0, exponent),
        Integer.parseInt(text.substring(exponent + 1)));
  }

  static String escape(String label) {
    return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }
}
