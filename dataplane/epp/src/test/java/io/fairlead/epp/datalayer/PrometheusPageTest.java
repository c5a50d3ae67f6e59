package io.fairlead.epp.datalayer;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.epp.datalayer.MetricMapping.Entry;
import io.fairlead.epp.datalayer.MetricMapping.Fold;
import io.fairlead.plugin.Readings;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PrometheusPageTest {

  private static final String PAGE =
      """
      # HELP vllm:num_requests_running Requests in the batch.
      # TYPE vllm:num_requests_running gauge
      vllm:num_requests_running{engine="0",model_name="m"} 3.0
      vllm:num_requests_running{engine="1",model_name="m"} 4.0
      # TYPE vllm:num_requests_waiting gauge
      vllm:num_requests_waiting{engine="0",model_name="m"} 5.0
      vllm:num_requests_waiting{engine="1",model_name="m"} 1e1
      vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 99.0
      vllm:num_requests_waiting_created{engine="0"} 1.7952188393520632e+09
      # TYPE vllm:kv_cache_usage_perc gauge
      vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
      vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.5
      vllm:cache_config_info{block_size="16",engine="0",note="a } \\" brace",num_gpu_blocks="512"} 1.0
      vllm:cache_config_info{block_size="16",engine="1",note="",num_gpu_blocks="500"} 1.0
      """;

  @Test
  void foldsTheRanksOfOnePod() {
    assertThat(read(PAGE)).isEqualTo(plain(15, 7, 0.5, 16, 1012));
  }

  @Test
  void namesThatNobodyWantsHideNoneThatBeginsAlike() {
    assertThat(
            read(
                """
                vllm:num_requests_waiting_by_reason{reason="capacity"} 3.0
                vllm:num_requests_waiting_by_reason{reason="deferred"} 4.0
                vllm:num_requests_waiting{engine="0"} 5.0
                vllm:num_requests_waiting_by_reason{reason="capacity"} 6.0
                vllm:num_requests 8.0
                vllm:num_requests_running{model_name="m"} 7.0
                """))
        .isEqualTo(plain(5, 7, Double.NaN, -1, -1));
  }

  @Test
  void cutsBetweenPiecesMakeNoDifference() {
    byte[] bytes = PAGE.getBytes(StandardCharsets.UTF_8);
    EndpointMetrics whole = read(PAGE);
    PrometheusPage page = new PrometheusPage(MetricMapping.VLLM);
    for (int cut = 1; cut < bytes.length; cut++) {
      page.reset();
      for (int at = 0; at < bytes.length; at += cut) {
        page.feed(bytes, at, Math.min(cut, bytes.length - at));
      }
      assertThat(finish(page)).as("pieces of %d bytes", cut).isEqualTo(whole);
    }
  }

  @Test
  void readsBothNamesOfTheCacheAndPrefersTheNewOne() {
    assertThat(read("vllm:gpu_cache_usage_perc 0.75\n").kvUsage()).isEqualTo(0.75);
    assertThat(
            read("vllm:gpu_cache_usage_perc 0.75\nvllm:kv_cache_usage_perc{a=\"b\"} 0.5\n")
                .kvUsage())
        .isEqualTo(0.5);
    assertThat(read("vllm:gpu_cache_usage_perc 0.75\nvllm:kv_cache_usage_perc NaN\n").kvUsage())
        .isEqualTo(0.75);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "vllm:kv_cache_usage_perc NaN",
        "vllm:kv_cache_usage_perc +Inf",
        "vllm:kv_cache_usage_perc 57.5",
        "vllm:kv_cache_usage_perc -0.5",
        "vllm:kv_cache_usage_perc",
        "vllm:kv_cache_usage_perc{",
        "vllm:kv_cache_usage_perc{a=\"b} 0.5",
        "vllm:kv_cache_usage_perc 0.5x",
        "vllm:num_requests_waiting -1",
        "vllm:num_requests_waiting 1e300",
        "vllm:num_requests_waitingx 1",
        "vllm:cache_config_info{block_size=\"None\",num_gpu_blocks=\"None\"} 1.0",
        "vllm:cache_config_info{block_size=16} 1.0",
        "# vllm:num_requests_waiting 1",
        "<html>no metrics here</html>"
      })
  void whatMakesNoSenseStaysUnknown(String text) {
    assertThat(read(text)).isEqualTo(EndpointMetrics.UNKNOWN);
    assertThat(read(text + "\n")).isEqualTo(EndpointMetrics.UNKNOWN);
  }

  @Test
  void aLineOfAnyLengthIsSkippedWithoutBeingKept() {
    String text = "x".repeat(300_000) + " 1\nvllm:num_requests_waiting 4\n" + "y".repeat(300_000);
    assertThat(read(text).waiting()).isEqualTo(4);
    PrometheusPage page = new PrometheusPage(MetricMapping.VLLM);
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    for (int at = 0; at < bytes.length; at += 1_000) {
      page.feed(bytes, at, Math.min(1_000, bytes.length - at));
    }
    assertThat(finish(page).waiting()).isEqualTo(4);
  }

  @Test
  void anotherPageForgetsTheLast() {
    PrometheusPage page = new PrometheusPage(MetricMapping.VLLM);
    byte[] bytes = PAGE.getBytes(StandardCharsets.UTF_8);
    page.feed(bytes, 0, bytes.length - 3);
    page.reset();
    assertThat(finish(page)).isEqualTo(EndpointMetrics.UNKNOWN);
  }

  @Test
  void readsSelectorsTimestampsAndNewest() {
    var mapping =
        new MetricMapping(
            List.of(
                new Entry(
                    Readings.WAITING, "q", Map.of("type", "wait\"ing\\"), Fold.SUM, null, false),
                Entry.label(Readings.BLOCKS, "info", "max", Fold.NEWEST)));
    String text =
        """
        q{type="running"} 8
        q{ type = "wait\\"ing\\\\" , } 2 1795218839000\r
        info{max="4"} 1.5e9
        info{max="6"} 1.7e9
        info{max="5"} 1.6e9
        """;
    assertThat(read(mapping, text)).isEqualTo(new EndpointMetrics(2, -1, Double.NaN, -1, 6));
  }

  @Test
  void theNewestValueOfLoraInfoCountsWhateverItsPlace() {
    String text =
        """
        vllm:num_requests_running{engine="0",model_name="base"} 3.0
        vllm:num_requests_running{engine="1",model_name="other"} 3.0
        vllm:lora_requests_info{max_lora="2",running_lora_adapters="",waiting_lora_adapters=""} 1.795218900e+09
        vllm:lora_requests_info{max_lora="3",running_lora_adapters="a, b",waiting_lora_adapters="a,q\\"\\\\x,a"} 1.795218967e+09
        vllm:lora_requests_info{max_lora="2",running_lora_adapters="a",waiting_lora_adapters="a"} 1.795218966e+09
        """;
    EndpointMetrics metrics = read(text);
    assertThat(metrics.baseModel()).isEqualTo("base");
    assertThat(metrics.maxAdapters()).isEqualTo(3);
    assertThat(metrics.runningAdapters()).containsExactly("a", "b");
    assertThat(metrics.waitingAdapters()).containsExactly("a", "q\"\\x");

    EndpointMetrics idle =
        read(
            text
                + "vllm:lora_requests_info{max_lora=\"3\",running_lora_adapters=\"\",waiting_lora_adapters=\"\"}"
                + " 1.795218968e+09\n");
    assertThat(idle.runningAdapters()).isEmpty();
    assertThat(idle.maxAdapters()).isEqualTo(3);
    assertThat(read(PAGE).maxAdapters()).as("LoRA is off").isEqualTo(-1);
  }

  @ParameterizedTest
  @CsvSource({
    "0,0",
    "12,12",
    "-3.5,-3.5",
    "+2,2",
    "1e3,1000",
    "1.5E-3,0.0015",
    ".5,0.5",
    "5.,5",
    "1.7952188393520632e+09,1795218839.3520632",
    "12345678901234567890,12345678901234567890",
    "0.000000000000000000001,1e-21",
    "'4 17',4",
    "1e999,NaN",
    "1e-999,0",
    "e5,NaN",
    "-,NaN",
    "1e,NaN",
    "NaN,NaN",
    "Inf,NaN",
    "0x10,NaN",
    "1.2.3,NaN"
  })
  void readsDecimals(String text, double expected) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    double value = Decimal.parse(bytes, 0, bytes.length);
    if (Double.isNaN(expected)) {
      assertThat(value).isNaN();
    } else {
      assertThat(value).isCloseTo(expected, Percentage.withPercentage(1e-12));
    }
  }

  private static EndpointMetrics read(String text) {
    return read(MetricMapping.VLLM, text);
  }

  private static EndpointMetrics read(MetricMapping mapping, String text) {
    PrometheusPage page = new PrometheusPage(mapping);
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    page.feed(bytes, 0, bytes.length);
    return finish(page);
  }

  private static EndpointMetrics finish(PrometheusPage page) {
    EndpointReadings readings = new EndpointReadings();
    page.finish(readings);
    return readings.metrics();
  }

  /** Of a server that calls its model {@code m} and has no adapters. */
  private static EndpointMetrics plain(
      int waiting, int running, double kvUsage, int blockSize, int blocks) {
    return new EndpointMetrics(
        waiting, running, kvUsage, blockSize, blocks, "m", -1, List.of(), List.of(), Map.of());
  }
}
