package io.fairlead.epp.datalayer;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.fairlead.core.EndpointMetrics;
import java.nio.charset.StandardCharsets;

/**
 * Any bytes, cut anywhere: no exception, what is told is in range or unknown, and the cuts make no
 * difference.
 */
class PrometheusPageFuzz {

  private static final byte[] NEARLY =
      "vllm:kv_cache_usage_perc{a=\"".getBytes(StandardCharsets.UTF_8);

  @FuzzTest
  void anyBytes(FuzzedDataProvider data) {
    int cut = data.consumeInt(1, 64);
    boolean near = data.consumeBoolean();
    byte[] rest = data.consumeRemainingAsBytes();
    EndpointMetrics metrics = read(near, rest, cut);
    assertThat(metrics).isEqualTo(read(near, rest, Math.max(1, rest.length)));
    assertThat(metrics.waiting()).isGreaterThanOrEqualTo(-1);
    assertThat(metrics.running()).isGreaterThanOrEqualTo(-1);
    assertThat(metrics.blocks()).isGreaterThanOrEqualTo(-1);
    assertThat(
            Double.isNaN(metrics.kvUsage()) || (metrics.kvUsage() >= 0 && metrics.kvUsage() <= 1))
        .as("kvUsage %s", metrics.kvUsage())
        .isTrue();
  }

  private static EndpointMetrics read(boolean near, byte[] rest, int cut) {
    PrometheusPage page = new PrometheusPage(MetricMapping.VLLM);
    if (near) {
      page.feed(NEARLY, 0, NEARLY.length);
    }
    for (int at = 0; at < rest.length; at += cut) {
      page.feed(rest, at, Math.min(cut, rest.length - at));
    }
    EndpointReadings readings = new EndpointReadings();
    page.finish(readings);
    return readings.metrics();
  }
}
