package io.fairlead.bench;

import io.fairlead.epp.datalayer.PrometheusPage;
import io.fairlead.plugin.Readings;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Reads what is wanted from a model server's metrics page. */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class PageBench {

  private static final int HISTOGRAMS = 20;
  private static final int BUCKETS = 20;
  private static final int PIECE = 16_384;

  private final PrometheusPage page = PrometheusPage.ofVllm();
  private final Sum sum = new Sum();
  private byte[] bytes = new byte[0];

  /** Keeps what it is told. */
  private static final class Sum implements Readings {

    private double all;

    @Override
    public void number(String key, double value) {
      all += value;
    }

    @Override
    public void text(String key, String value) {
      all += value.length();
    }
  }

  /** Makes the page: the few gauges that are wanted, among histograms that are not. */
  @Setup
  public void write() {
    StringBuilder text = new StringBuilder();
    gauge(text, "num_requests_running");
    gauge(text, "num_requests_waiting");
    gauge(text, "kv_cache_usage_perc");
    text.append("vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"27000\"} 1.0\n");
    for (int i = 0; i < HISTOGRAMS; i++) {
      String name = "vllm:request_phase_" + i + "_time_seconds";
      text.append("# HELP ").append(name).append(" Histogram of the time spent in a phase.\n");
      text.append("# TYPE ").append(name).append(" histogram\n");
      for (int bucket = 0; bucket < BUCKETS; bucket++) {
        text.append(name).append("_bucket{engine=\"0\",le=\"").append(bucket * 0.5);
        text.append("\",model_name=\"meta-llama/Llama-3.1-8B-Instruct\"} 12000.0\n");
      }
      text.append(name).append("_sum{engine=\"0\"} 31.5\n");
      text.append(name).append("_count{engine=\"0\"} 12000.0\n");
    }
    bytes = text.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static void gauge(StringBuilder text, String name) {
    text.append("# TYPE vllm:").append(name).append(" gauge\nvllm:").append(name);
    text.append("{engine=\"0\",model_name=\"meta-llama/Llama-3.1-8B-Instruct\"} 3.0\n");
  }

  /** One scrape. */
  @Benchmark
  public double read() {
    page.reset();
    for (int at = 0; at < bytes.length; at += PIECE) {
      page.feed(bytes, at, Math.min(PIECE, bytes.length - at));
    }
    page.finish(sum);
    return sum.all;
  }
}
