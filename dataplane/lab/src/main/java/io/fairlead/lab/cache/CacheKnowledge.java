package io.fairlead.lab.cache;

import io.fairlead.lab.report.TextTable;
import io.fairlead.lab.simulator.BelievedRun;
import io.fairlead.lab.simulator.BelievedRun.Beliefs;
import io.fairlead.lab.simulator.Policy;
import io.fairlead.lab.simulator.PoolSpec;
import io.fairlead.lab.simulator.Simulation;
import io.fairlead.lab.simulator.SimulationSpec;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;

/**
 * Compares what pickers believe to be cached with what engines find, three times over: from what
 * was sent alone, with events of which blocks are counted, and with events and prompts in tokens.
 */
public final class CacheKnowledge {

  /** What pickers know caches by. */
  public enum Source {
    /** What they sent. */
    SENT("sent", ""),
    /** That, and how much engines store and drop. */
    COUNTED("events", "- type: precise-prefix-cache-producer\n"),
    /** What engines say. */
    EXACT(
        "events, tokenizer",
        """
        - type: precise-prefix-cache-producer
        - type: token-producer
          parameters: {modelName: any, path: in the simulator}
        """);

    private final String title;
    private final String plugins;

    Source(String title, String plugins) {
      this.title = title;
      this.plugins = plugins;
    }

    private Policy policy() {
      return Policy.read(
          title,
          title,
          """
          apiVersion: inference.networking.x-k8s.io/v1alpha1
          kind: EndpointPickerConfig
          plugins:
          %s- type: work-cost
          """
              .formatted(plugins));
    }
  }

  private final TextTable table =
      new TextTable(
          "workload",
          "pickers",
          "known by",
          "believed",
          "found",
          "too many",
          "too few",
          "mean error",
          "TTFT mean",
          "TTFT p99");

  /**
   * Runs a workload with each source, and adds a row for each to the table.
   *
   * @param seeds whose numbers are taken together
   */
  public void add(Workload workload, PoolSpec pool, Settings settings, List<Long> seeds) {
    for (Source source : Source.values()) {
      List<BelievedRun> runs = new ArrayList<>();
      for (long seed : seeds) {
        runs.add(
            Simulation.believed(
                new SimulationSpec(workload, source.policy(), pool, seed, settings)));
      }
      row(workload.name(), settings.pickers(), source, runs);
    }
  }

  private void row(String workload, int pickers, Source source, List<BelievedRun> runs) {
    double prompt = sum(runs.stream().mapToLong(run -> run.beliefs().promptTokens()));
    table.row(
        workload,
        Integer.toString(pickers),
        source.title,
        share(sum(runs.stream().mapToLong(run -> run.beliefs().believed())) / prompt),
        share(sum(runs.stream().mapToLong(run -> run.beliefs().cached())) / prompt),
        share(sum(runs.stream().mapToLong(run -> run.beliefs().tooMany())) / prompt),
        share(sum(runs.stream().mapToLong(run -> run.beliefs().tooFew())) / prompt),
        share(
            runs.stream()
                .map(BelievedRun::beliefs)
                .mapToDouble(Beliefs::meanShareError)
                .average()
                .orElse(0)),
        millis(runs.stream().mapToDouble(run -> run.result().ttftMs().mean()).average().orElse(0)),
        millis(
            runs.stream()
                .mapToDouble(run -> run.result().ttftMs().quantile(0.99))
                .average()
                .orElse(0)));
  }

  private static double sum(LongStream values) {
    return values.sum();
  }

  private static String share(double share) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * share);
  }

  private static String millis(double millis) {
    return String.format(Locale.ROOT, "%.0f ms", millis);
  }

  /** The rows so far. */
  public List<String> lines() {
    return table.lines();
  }
}
