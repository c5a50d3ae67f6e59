package io.fairlead.stub.server;

/**
 * The faults in force.
 *
 * @param resetNext how many of the next completion requests get their connection reset before the
 *     first byte
 * @param errorNext how many of the next completion requests get {@code errorStatus}
 * @param errorStatus an HTTP status, 500 to 599
 * @param stall whether the engine hangs: requests are taken and never answered, health and metrics
 *     stay good
 * @param freezeMetrics whether {@code /metrics} repeats what it said when this was switched on
 * @param metricsDelayMillis how long {@code /metrics} takes to answer, wall milliseconds
 */
public record FaultState(
    int resetNext,
    int errorNext,
    int errorStatus,
    boolean stall,
    boolean freezeMetrics,
    int metricsDelayMillis) {

  /** All well. */
  public static final FaultState NONE = new FaultState(0, 0, 500, false, false, 0);

  public FaultState {
    atLeastZero("resetNext", resetNext);
    atLeastZero("errorNext", errorNext);
    if (errorStatus < 500 || errorStatus > 599) {
      throw new IllegalArgumentException("errorStatus: " + errorStatus + " is not in 500..599");
    }
    atLeastZero("metricsDelayMillis", metricsDelayMillis);
  }

  FaultState withResetNext(int count) {
    return new FaultState(count, errorNext, errorStatus, stall, freezeMetrics, metricsDelayMillis);
  }

  FaultState withErrorNext(int count, int status) {
    return new FaultState(resetNext, count, status, stall, freezeMetrics, metricsDelayMillis);
  }

  FaultState withStall(boolean on) {
    return new FaultState(resetNext, errorNext, errorStatus, on, freezeMetrics, metricsDelayMillis);
  }

  FaultState withFreezeMetrics(boolean on) {
    return new FaultState(resetNext, errorNext, errorStatus, stall, on, metricsDelayMillis);
  }

  FaultState withMetricsDelayMillis(int millis) {
    return new FaultState(resetNext, errorNext, errorStatus, stall, freezeMetrics, millis);
  }

  private static void atLeastZero(String field, int value) {
    if (value < 0) {
      throw new IllegalArgumentException(field + ": " + value + " is not >= 0");
    }
  }
}
