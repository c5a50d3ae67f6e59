package io.fairlead.epp.datalayer;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.scheduling.EngineMetrics;
import io.fairlead.core.scheduling.EngineSeries;
import io.fairlead.core.scheduling.MetricsSource;
import io.fairlead.core.scheduling.Series;
import io.fairlead.plugin.DataSource.Target;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

class MetricMappingTest {

  private static final String LABEL = "inference.networking.k8s.io/engine-type";

  /** The same of every engine, in its own words. */
  private static final String PAGE =
      """
      vllm:num_requests_waiting{engine="0",model_name="m"} 1
      vllm:num_requests_running{engine="0",model_name="m"} 2
      vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.5
      vllm:cache_config_info{block_size="16",num_gpu_blocks="100"} 1.0
      sglang:num_queue_reqs{model_name="s"} 11
      sglang:num_running_reqs{model_name="s"} 12
      sglang:token_usage{model_name="s"} 0.25
      sglang:cache_config_info{page_size="64",num_pages="200"} 1.0
      trtllm_num_requests_waiting 21
      trtllm_num_requests_running 22
      trtllm_kv_cache_utilization 0.125
      trtllm_kv_cache_tokens_per_block 32
      trtllm_kv_cache_max_blocks 300
      nv_trt_llm_request_metrics{model="t",request_type="waiting",version="1"} 31
      nv_trt_llm_request_metrics{model="t",request_type="scheduled",version="1"} 32
      nv_trt_llm_request_metrics{model="t",request_type="max",version="1"} 99
      nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="fraction",model="t"} 0.75
      nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="tokens_per",model="t"} 128
      nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="max",model="t"} 400
      nv_inference_pending_request_count{model="t"} 41
      nv_inference_exec_count{model="t"} 42
      DCGM_FI_DEV_GPU_UTIL{gpu="0"} 7
      DCGM_FI_DEV_GPU_UTIL{gpu="1"} 9
      """;

  private static final EndpointMetrics VLLM = metrics(1, 2, 0.5, 16, 100, "m");
  private static final EndpointMetrics SGLANG = metrics(11, 12, 0.25, 64, 200, "s");

  @Test
  void thePodsLabelNamesTheEngine() {
    assertThat(read(EngineMetrics.DEFAULT, Map.of())).isEqualTo(VLLM);
    assertThat(read(EngineMetrics.DEFAULT, Map.of(LABEL, "vllm"))).isEqualTo(VLLM);
    assertThat(read(EngineMetrics.DEFAULT, Map.of(LABEL, "sglang"))).isEqualTo(SGLANG);
    assertThat(read(EngineMetrics.DEFAULT, Map.of(LABEL, "trtllm-serve")))
        .isEqualTo(metrics(21, 22, 0.125, 32, 300, ""));
    assertThat(read(EngineMetrics.DEFAULT, Map.of(LABEL, "triton-tensorrt-llm")))
        .isEqualTo(metrics(31, 32, 0.75, 128, 400, ""));
    assertThat(read(EngineMetrics.DEFAULT, Map.of(LABEL, "triton")))
        .isEqualTo(metrics(41, 42, Double.NaN, -1, -1, ""));
    assertThat(read(EngineMetrics.DEFAULT, Map.of(LABEL, "vllm", "llm-d.ai/engine-type", "sglang")))
        .as("the newer key wins")
        .isEqualTo(SGLANG);
    assertThat(read(EngineMetrics.DEFAULT, Map.of(LABEL, "nobody's"))).isEqualTo(VLLM);
  }

  @ParameterizedTest
  @FieldSource("io.fairlead.core.scheduling.EngineMetrics#BUILT_IN")
  void everyBuiltInEngineHasNames(String engine) {
    assertThat(MetricMapping.builtIn(engine)).isNotNull();
  }

  @Test
  void aDocumentReplacesAnEngineWholly() {
    EngineSeries own =
        new EngineSeries(
            new Series("nv_inference_pending_request_count", Map.of("model", "t")),
            null,
            null,
            null,
            new Series("sglang:cache_config_info", Map.of()),
            "page_size",
            "num_pages",
            null,
            null);
    EngineMetrics settings =
        new EngineMetrics(
            List.of("engine"),
            "mine",
            Map.of("mine", own, "vllm", own),
            List.of(
                new EngineMetrics.Custom(
                    "gpu", new Series("DCGM_FI_DEV_GPU_UTIL", Map.of("gpu", "1"))),
                new EngineMetrics.Custom("first", new Series("DCGM_FI_DEV_GPU_UTIL", Map.of())),
                new EngineMetrics.Custom("none", new Series("DCGM_FI_DEV_GPU_UTI", Map.of()))));
    EndpointMetrics expected =
        new EndpointMetrics(
            41,
            -1,
            Double.NaN,
            64,
            200,
            "",
            -1,
            List.of(),
            List.of(),
            Map.of("gpu", 9.0, "first", 7.0));

    assertThat(read(settings, Map.of())).isEqualTo(expected);
    assertThat(read(settings, Map.of("engine", "vllm"))).isEqualTo(expected);
    assertThat(read(settings, Map.of("engine", "sglang")).baseModel()).isEqualTo("s");
  }

  private static final String LIFE =
      """
      process_start_time_seconds 1.7952188393520632e+09
      vllm:prompt_tokens_total{engine="0"} 100
      vllm:prompt_tokens_total{engine="1"} 50
      vllm:prompt_tokens_created{engine="0"} 7e9
      vllm:generation_tokens_total{engine="0"} 7
      sglang:prompt_tokens_total{tp_rank="0"} 1000
      sglang:num_used_tokens{dp_rank="0"} 30
      sglang:num_used_tokens{dp_rank="1"} 12
      """;

  @Test
  void aServersStartAndProgressAreRead() {
    assertThat(life(EngineMetrics.DEFAULT, "vllm")).containsExactly(1.7952188393520632e9, 157);
    assertThat(life(EngineMetrics.DEFAULT, "sglang"))
        .as("where it tells of prompts only")
        .containsExactly(1.7952188393520632e9, 1000);
    assertThat(life(EngineMetrics.DEFAULT, "trtllm-serve"))
        .containsExactly(1.7952188393520632e9, Double.NaN);
    assertThat(EndpointMetrics.UNKNOWN.startedAt()).isNaN();
    assertThat(EndpointMetrics.UNKNOWN.progress()).isNaN();
  }

  @Test
  void aDocumentThatReplacesAnEngineLeavesItsStartAndProgress() {
    EngineSeries own =
        new EngineSeries(
            new Series("x", Map.of()), null, null, null, null, "size", "blocks", null, null);
    EngineMetrics settings =
        new EngineMetrics(
            List.of(LABEL), "mine", Map.of("mine", own, "vllm", own, "new", own), List.of());
    assertThat(life(settings, "vllm")).containsExactly(1.7952188393520632e9, 157);
    assertThat(life(settings, "new")).containsExactly(1.7952188393520632e9, Double.NaN);
  }

  @Test
  void whatIsInTheCacheIsReadWhereProgressIsToldLate() {
    EngineSeries own =
        new EngineSeries(
            new Series("x", Map.of()), null, null, null, null, "size", "blocks", null, null);
    EngineMetrics replaced =
        new EngineMetrics(List.of(LABEL), "sglang", Map.of("sglang", own), List.of());
    assertThat(lifeOf(EngineMetrics.DEFAULT, "sglang").usedTokens()).isEqualTo(42);
    assertThat(lifeOf(replaced, "sglang").usedTokens()).isEqualTo(42);
    assertThat(lifeOf(EngineMetrics.DEFAULT, "vllm").usedTokens()).isNaN();
  }

  private static double[] life(EngineMetrics settings, String engine) {
    EndpointMetrics read = lifeOf(settings, engine);
    return new double[] {read.startedAt(), read.progress()};
  }

  private static EndpointMetrics lifeOf(EngineMetrics settings, String engine) {
    EndpointReadings readings = new EndpointReadings();
    new EnginePages(MetricsSource.DEFAULT, List.of(settings))
        .read(target(Map.of(LABEL, engine)), LIFE, readings);
    return readings.metrics();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "no page\n", "vllm:num_requests_waiting -1\n"})
  void whatTheFirstSourceDoesNotKnowTheSecondMayTell(String page) {
    EndpointReadings first = new EndpointReadings();
    EnginePages.DEFAULT.read(target(Map.of()), page, first);
    EndpointReadings second = new EndpointReadings();
    EnginePages.DEFAULT.read(target(Map.of()), PAGE, second);
    first.addAll(second);

    assertThat(first.metrics()).isEqualTo(VLLM);
    second.number("waiting", 77);
    assertThat(second.metrics()).as("the first telling counts").isEqualTo(VLLM);
  }

  private static EndpointMetrics read(EngineMetrics settings, Map<String, String> labels) {
    EndpointReadings readings = new EndpointReadings();
    new EnginePages(MetricsSource.DEFAULT, List.of(settings)).read(target(labels), PAGE, readings);
    return readings.metrics();
  }

  private static Target target(Map<String, String> labels) {
    return new Target("e", "10.0.0.1", 8000, labels);
  }

  private static EndpointMetrics metrics(
      int waiting, int running, double kvUsage, int blockSize, int blocks, String model) {
    return new EndpointMetrics(
        waiting, running, kvUsage, blockSize, blocks, model, -1, List.of(), List.of(), Map.of());
  }
}
