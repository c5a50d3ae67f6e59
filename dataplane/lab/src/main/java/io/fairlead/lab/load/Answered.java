package io.fairlead.lab.load;

import io.fairlead.lab.workload.RequestShape;
import java.time.Duration;

/**
 * One request that is over, as its client saw it.
 *
 * @param request what was asked
 * @param stream whether a stream was asked for
 * @param due when it was due, since the run began
 * @param sent when it was sent: later than {@code due} when the client falls behind
 * @param outcome what came of it
 * @param kind of the outcome where it was no success: the status, {@code incomplete} for an answer
 *     that broke off or stopped, {@code error inside} for an error with status 200, {@code no
 *     answer} for that status and nothing else, or what happened to the connection
 * @param firstByte from when it was due to its answer's first byte; zero when none came
 * @param endpoint who answered, as it names itself in a header; empty when it doesn't
 * @param model which of its models did, as it says in a header; empty when it doesn't: what the
 *     answer itself says is what was asked for
 */
public record Answered(
    RequestShape request,
    boolean stream,
    Duration due,
    Duration sent,
    Outcome outcome,
    String kind,
    Duration firstByte,
    String endpoint,
    String model) {

  /** What may come of a request. */
  public enum Outcome {
    SUCCEEDED,
    /** Turned away with 429. */
    REJECTED,
    FAILED
  }
}
