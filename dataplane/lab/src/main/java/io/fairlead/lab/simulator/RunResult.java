package io.fairlead.lab.simulator;

import java.util.List;

/**
 * What one run of one policy on one workload with one seed has shown. A function of these alone:
 * nothing in it depends on the machine. Requests that arrived during the warm-up are in none of the
 * numbers, but for the two time series, the disruption, and what engines count themselves: the work
 * behind {@code maxOverMeanLoad} and {@code serverJain}, {@code preemptions}, {@code adapterLoads}
 * and {@code mostInQueue} are those of the whole run.
 *
 * @param workload name of the workload
 * @param policy name of the policy
 * @param pool what it ran on, e.g. {@code 8xh100-8b}
 * @param seed of the workload and of the policy's draws
 * @param simulatedSeconds virtual time of the run, warm-up included
 * @param measuredSeconds virtual time in which arrivals were measured
 * @param arrived requests measured
 * @param completed those answered in full
 * @param rejected those that the policy turned away
 * @param failed those that got an error, half an answer or none
 * @param ttftMs time to first token of completed requests
 * @param tpotMs time per output token after the first, of those with two tokens or more
 * @param endToEndMs time to the last token
 * @param normalisedMs end-to-end time over output tokens
 * @param promptTokens of completed requests
 * @param cachedTokens those of {@code promptTokens} that an engine's cache held
 * @param outputTokens of completed requests
 * @param goodput share of arrived requests that were completed within the objective of the run
 * @param maxOverMeanLoad work of the busiest endpoint over the mean, work being the time that its
 *     engine was computing
 * @param jain Jain's index over tenants of the tokens served to each per token that it asked for; 1
 *     where there is one tenant
 * @param serverJain Jain's index over endpoints of the time that each engine was computing
 * @param preemptions how often an engine took a running request's blocks away
 * @param adapterLoads how often an engine loaded an adapter
 * @param mostInQueue most requests that waited in the queue of one engine at a step's end
 * @param load requests in flight per endpoint over time
 * @param waiting requests without a first token per criticality over time
 * @param disruption what events did
 * @param flows latency of each, by name
 * @param course whether the pool kept up
 */
public record RunResult(
    String workload,
    String policy,
    String pool,
    long seed,
    double simulatedSeconds,
    double measuredSeconds,
    long arrived,
    long completed,
    long rejected,
    long failed,
    Distribution ttftMs,
    Distribution tpotMs,
    Distribution endToEndMs,
    Distribution normalisedMs,
    long promptTokens,
    long cachedTokens,
    long outputTokens,
    double goodput,
    double maxOverMeanLoad,
    double jain,
    double serverJain,
    long preemptions,
    long adapterLoads,
    long mostInQueue,
    TimeSeries load,
    TimeSeries waiting,
    Disruption disruption,
    List<Flow> flows,
    Course course) {

  public RunResult {
    flows = List.copyOf(flows);
  }

  /** Completed requests per second. */
  public double requestsPerSecond() {
    return completed / measuredSeconds;
  }

  /** Requests of the window that were completed within the objectives, per second of it. */
  public double goodPerSecond() {
    return course.windowSeconds() > 0 ? goodput * course.arrived() / course.windowSeconds() : 0;
  }

  /**
   * The largest mean of a flow, infinite where one was served nothing; NaN where there are no two
   * flows.
   */
  public double slowestFlowMs() {
    return flows.size() < 2
        ? Double.NaN
        : flows.stream()
            .filter(flow -> flow.arrived() > 0)
            .mapToDouble(flow -> flow.completed() == 0 ? Double.POSITIVE_INFINITY : flow.meanMs())
            .max()
            .orElse(Double.NaN);
  }

  /** Tokens put out per second. */
  public double outputTokensPerSecond() {
    return outputTokens / measuredSeconds;
  }

  /** Share of prompt tokens that a cache held, 0 to 1. */
  public double hitRate() {
    return promptTokens == 0 ? 0 : (double) cachedTokens / promptTokens;
  }
}
