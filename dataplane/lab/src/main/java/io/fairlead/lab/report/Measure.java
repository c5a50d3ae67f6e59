package io.fairlead.lab.report;

import io.fairlead.lab.simulator.RunResult;

/** A number that a run is judged by. */
public enum Measure {
  TTFT_P50("ttft-p50", "TTFT p50", Unit.MILLIS, Better.LESS),
  TTFT_P90("ttft-p90", "TTFT p90", Unit.MILLIS, Better.LESS),
  TTFT_P99("ttft-p99", "TTFT p99", Unit.MILLIS, Better.LESS),
  TPOT_P50("tpot-p50", "TPOT p50", Unit.MILLIS, Better.LESS),
  TPOT_P99("tpot-p99", "TPOT p99", Unit.MILLIS, Better.LESS),
  END_TO_END_MEAN("end-to-end-mean", "end-to-end mean", Unit.MILLIS, Better.LESS),
  END_TO_END_P99("end-to-end-p99", "end-to-end p99", Unit.MILLIS, Better.LESS),
  NORMALISED_MEAN("normalised-mean", "normalised latency", Unit.MILLIS, Better.LESS),
  REQUESTS_PER_SECOND("requests-per-second", "requests/s", Unit.NUMBER, Better.MORE),
  OUTPUT_TOKENS_PER_SECOND("output-tokens-per-second", "output tokens/s", Unit.NUMBER, Better.MORE),
  GOODPUT("goodput", "goodput", Unit.SHARE, Better.MORE),
  GOOD_PER_SECOND("good-per-second", "good requests/s", Unit.NUMBER, Better.MORE),
  SUSTAINED_PER_SECOND("sustained-per-second", "sustained/s", Unit.NUMBER, Better.MORE),
  HIT_RATE("hit-rate", "hit rate", Unit.SHARE, Better.MORE),
  LAST_HIT_RATE("last-hit-rate", "hit rate of the last 1,000", Unit.SHARE, Better.MORE),
  MAX_OVER_MEAN_LOAD("max-over-mean-load", "max/mean load", Unit.NUMBER, Better.LESS),
  JAIN("jain", "Jain index", Unit.NUMBER, Better.MORE),
  SERVER_JAIN("server-jain", "Jain index of servers", Unit.NUMBER, Better.MORE),
  SLOWEST_FLOW("slowest-flow", "slowest flow's mean", Unit.MILLIS, Better.LESS),
  REJECTED_SHARE("rejected-share", "rejected", Unit.SHARE, Better.LESS),
  FAILED_SHARE("failed-share", "failed", Unit.SHARE, Better.LESS),
  SECONDS_UNTIL_RIGHT("seconds-until-right", "seconds until right", Unit.NUMBER, Better.LESS),
  MOST_OUT("most-out", "most servers out", Unit.NUMBER, Better.LESS),
  PREEMPTIONS("preemptions", "preemptions", Unit.NUMBER, Better.LESS),
  ADAPTER_LOADS("adapter-loads", "adapter loads", Unit.NUMBER, Better.LESS);

  private final String id;
  private final String title;
  private final Unit unit;
  private final Better better;

  Measure(String id, String title, Unit unit, Better better) {
    this.id = id;
    this.title = title;
    this.unit = unit;
    this.better = better;
  }

  /** What a measure is counted in. */
  enum Unit {
    MILLIS,
    /** 0 to 1, shown in per cent. */
    SHARE,
    NUMBER
  }

  /** Which way a measure should go. */
  public enum Better {
    LESS,
    MORE
  }

  /** As it is named in files, e.g. {@code ttft-p99}. */
  public String id() {
    return id;
  }

  /** As it is named in tables, with its unit where it has one. */
  public String title() {
    return unit == Unit.MILLIS ? title + ", ms" : title;
  }

  /** As it is named where the unit does not matter. */
  String plainTitle() {
    return title;
  }

  /** Which way it should go. */
  public Better better() {
    return better;
  }

  Unit unit() {
    return unit;
  }

  /** Whether it is of runs alone in which something goes wrong. */
  boolean ofFaults() {
    return this == FAILED_SHARE || this == SECONDS_UNTIL_RIGHT || this == MOST_OUT;
  }

  /** Whether it is of some runs alone, so that a report says nothing of it where none has it. */
  boolean ofSome() {
    return ofFaults() || this == SLOWEST_FLOW;
  }

  /** Its value in a run; NaN when the run has none, e.g. where nothing was completed. */
  public double of(RunResult run) {
    return switch (this) {
      case TTFT_P50 -> run.ttftMs().quantile(0.5);
      case TTFT_P90 -> run.ttftMs().quantile(0.9);
      case TTFT_P99 -> run.ttftMs().quantile(0.99);
      case TPOT_P50 -> run.tpotMs().quantile(0.5);
      case TPOT_P99 -> run.tpotMs().quantile(0.99);
      case END_TO_END_MEAN -> run.endToEndMs().mean();
      case END_TO_END_P99 -> run.endToEndMs().quantile(0.99);
      case NORMALISED_MEAN -> run.normalisedMs().mean();
      case REQUESTS_PER_SECOND -> run.requestsPerSecond();
      case OUTPUT_TOKENS_PER_SECOND -> run.outputTokensPerSecond();
      case GOODPUT -> run.goodput();
      case GOOD_PER_SECOND -> run.goodPerSecond();
      case SUSTAINED_PER_SECOND -> run.course().sustainedPerSecond();
      case LAST_HIT_RATE -> run.course().lastHitRate();
      case SERVER_JAIN -> run.serverJain();
      case SLOWEST_FLOW -> run.slowestFlowMs();
      case HIT_RATE -> run.promptTokens() == 0 ? Double.NaN : run.hitRate();
      case MAX_OVER_MEAN_LOAD -> run.maxOverMeanLoad();
      case JAIN -> run.jain();
      case REJECTED_SHARE ->
          run.arrived() == 0 ? Double.NaN : (double) run.rejected() / run.arrived();
      case FAILED_SHARE ->
          run.arrived() == 0 || (run.failed() == 0 && !disrupted(run))
              ? Double.NaN
              : (double) run.failed() / run.arrived();
      case SECONDS_UNTIL_RIGHT -> run.disruption().secondsUntilRight();
      case MOST_OUT -> disrupted(run) ? run.disruption().mostOut() : Double.NaN;
      case PREEMPTIONS -> run.preemptions();
      case ADAPTER_LOADS -> run.adapterLoads();
    };
  }

  private static boolean disrupted(RunResult run) {
    return !Double.isNaN(run.disruption().secondsUntilRight());
  }
}
