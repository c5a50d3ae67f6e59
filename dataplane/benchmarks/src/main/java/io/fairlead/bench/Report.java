package io.fairlead.bench;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.util.Statistics;

/** Results in the short: the median, the 99th percentile, and bytes allocated per operation. */
final class Report {

  private final List<Row> rows = new ArrayList<>();

  private record Row(String name, double p50, double p99, double bytes) {}

  /** Of results in microseconds. */
  Report(Collection<RunResult> results) {
    for (RunResult result : results) {
      Statistics time = result.getPrimaryResult().getStatistics();
      rows.add(
          new Row(
              name(result.getParams()),
              time.getPercentile(50),
              time.getPercentile(99),
              allocated(result)));
    }
  }

  List<String> lines() {
    return rows.stream()
        .map(
            row ->
                String.format(
                    Locale.ROOT,
                    "bench %s p50_us=%.2f p99_us=%.2f bytes_per_op=%.0f",
                    row.name(),
                    row.p50(),
                    row.p99(),
                    row.bytes()))
        .toList();
  }

  String markdown() {
    StringBuilder table = new StringBuilder();
    table.append("| case | p50 µs | p99 µs | bytes per operation |\n|---|---|---|---|\n");
    for (Row row : rows) {
      table.append(
          String.format(
              Locale.ROOT,
              "| %s | %.1f | %.1f | %.0f |%n",
              row.name(),
              row.p50(),
              row.p99(),
              row.bytes()));
    }
    return table.toString();
  }

  private static double allocated(RunResult result) {
    for (String key : result.getSecondaryResults().keySet()) {
      if (key.endsWith("gc.alloc.rate.norm")) {
        return result.getSecondaryResults().get(key).getScore();
      }
    }
    return Double.NaN;
  }

  /** Such as {@code lookup/endpoints=64,holders=all}. */
  private static String name(BenchmarkParams params) {
    String benchmark = params.getBenchmark();
    int dot = benchmark.lastIndexOf('.');
    String type = benchmark.substring(0, dot);
    List<String> parts = new ArrayList<>();
    if (methods(type) > 1) {
      parts.add(benchmark.substring(dot + 1));
    }
    params.getParamsKeys().forEach(key -> parts.add(key + "=" + params.getParam(key)));
    String simple = type.substring(type.lastIndexOf('.') + 1);
    String name = simple.replaceAll("Bench$", "").toLowerCase(Locale.ROOT);
    return parts.isEmpty() ? name : name + "/" + String.join(",", parts);
  }

  private static long methods(String type) {
    try {
      Method[] all = Class.forName(type).getMethods();
      return Arrays.stream(all).filter(m -> m.isAnnotationPresent(Benchmark.class)).count();
    } catch (ClassNotFoundException e) {
      return 0;
    }
  }
}
