package io.fairlead.lab.report;

import io.fairlead.lab.simulator.Course;
import io.fairlead.lab.simulator.Disruption;
import io.fairlead.lab.simulator.Distribution;
import io.fairlead.lab.simulator.Flow;
import io.fairlead.lab.simulator.RunResult;
import io.fairlead.lab.simulator.TimeSeries;
import io.fairlead.lab.simulator.TimeSeries.Line;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/** Results such as runs might have, drawn from their seeds. */
public final class MadeUpRuns {

  private static final int REQUESTS = 4_000;
  private static final int LOOKS = 900;
  private static final int OUTPUT_TOKENS = 250;

  private MadeUpRuns() {}

  /**
   * All policies on all workloads, so many seeds each; a policy is the slower the later it comes.
   */
  public static List<RunResult> matrix(
      List<String> workloads, List<String> policies, int seeds, int endpoints) {
    List<RunResult> runs = new ArrayList<>();
    for (String workload : workloads) {
      for (int policy = 0; policy < policies.size(); policy++) {
        for (long seed = 1; seed <= seeds; seed++) {
          runs.add(run(workload, policies.get(policy), seed, 1 + 0.35 * policy, endpoints));
        }
      }
    }
    return runs;
  }

  /** One run, that much slower than it could be. */
  public static RunResult run(
      String workload, String policy, long seed, double slowness, int endpoints) {
    var random = new SplittableRandom(seed * 31 + workload.hashCode());
    double[] ttft = new double[REQUESTS];
    double[] tpot = new double[REQUESTS];
    double[] endToEnd = new double[REQUESTS];
    double[] normalised = new double[REQUESTS];
    for (int i = 0; i < REQUESTS; i++) {
      ttft[i] = 30 * slowness * Math.exp((0.5 + 0.2 * slowness) * random.nextGaussian());
      tpot[i] = 9 * Math.sqrt(slowness) * Math.exp(0.2 * random.nextGaussian());
      endToEnd[i] = ttft[i] + OUTPUT_TOKENS * tpot[i];
      normalised[i] = endToEnd[i] / OUTPUT_TOKENS;
    }
    double hitRate = Math.max(0.05, 0.85 - 0.12 * slowness + 0.01 * random.nextGaussian());
    return new RunResult(
        workload,
        policy,
        endpoints + "xh100-8b",
        seed,
        450,
        400,
        REQUESTS + 20,
        REQUESTS,
        20,
        0,
        Distribution.of(ttft),
        Distribution.of(tpot),
        Distribution.of(endToEnd),
        Distribution.of(normalised),
        REQUESTS * 2_500L,
        (long) (REQUESTS * 2_500L * hitRate),
        (long) REQUESTS * OUTPUT_TOKENS,
        Math.min(1, 1.05 - 0.06 * slowness),
        1.02 + 0.05 * slowness,
        1,
        1 - 0.02 * slowness,
        (long) (3 * slowness),
        0,
        0,
        load(random, slowness, endpoints),
        waiting(random, slowness),
        Disruption.NONE,
        List.of(),
        new Course(400, REQUESTS + 20, REQUESTS, 0, 0, hitRate));
  }

  /** The same run under other names. */
  static RunResult as(RunResult run, String workload, String policy) {
    return with(run, workload, policy, run.rejected(), run.flows());
  }

  /** The same run, with so many more requests that were rejected. */
  static RunResult rejecting(RunResult run, long rejected) {
    return with(run, run.workload(), run.policy(), rejected, run.flows());
  }

  /** The same run, with these flows. */
  static RunResult of(RunResult run, Flow... flows) {
    return with(run, run.workload(), run.policy(), run.rejected(), List.of(flows));
  }

  private static RunResult with(
      RunResult run, String workload, String policy, long rejected, List<Flow> flows) {
    return new RunResult(
        workload,
        policy,
        run.pool(),
        run.seed(),
        run.simulatedSeconds(),
        run.measuredSeconds(),
        run.completed() + rejected,
        run.completed(),
        rejected,
        run.failed(),
        run.ttftMs(),
        run.tpotMs(),
        run.endToEndMs(),
        run.normalisedMs(),
        run.promptTokens(),
        run.cachedTokens(),
        run.outputTokens(),
        run.goodput(),
        run.maxOverMeanLoad(),
        run.jain(),
        run.serverJain(),
        run.preemptions(),
        run.adapterLoads(),
        run.mostInQueue(),
        run.load(),
        run.waiting(),
        run.disruption(),
        flows,
        run.course());
  }

  private static TimeSeries load(RandomGenerator random, double slowness, int endpoints) {
    List<Line> lines = new ArrayList<>();
    for (int endpoint = 0; endpoint < endpoints; endpoint++) {
      double level = 20 * slowness * (1 + 0.1 * random.nextGaussian());
      lines.add(
          new Line(
              "h100-" + endpoint, walk(random, level, 3, 12 * slowness * (endpoint == 1 ? 1 : 0))));
    }
    return new TimeSeries(0.5, lines);
  }

  private static TimeSeries waiting(RandomGenerator random, double slowness) {
    return new TimeSeries(
        0.5,
        List.of(
            new Line("critical", walk(random, 0.5, 0.5, 0)),
            new Line("standard", walk(random, 2 * slowness, 2, 5 * slowness)),
            new Line("sheddable", walk(random, 5 * slowness, 4, 90 * slowness))));
  }

  /** Whole numbers around a level, with a burst in the middle. */
  private static List<Double> walk(
      RandomGenerator random, double level, double jitter, double burst) {
    return IntStream.range(0, LOOKS)
        .mapToObj(
            i -> {
              double middle = Math.exp(-Math.pow((i - LOOKS / 2.0) / 60, 2));
              double value = level + jitter * random.nextGaussian() + burst * middle;
              return (double) Math.round(Math.max(0, value));
            })
        .toList();
  }
}
