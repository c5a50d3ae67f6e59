package io.fairlead.epp.external;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * What came of offering requests to an external scheduler: each is counted once, when it is sent
 * for the first time or over, by what was last said of it. Any thread.
 */
public final class ExternalCounts {

  /** What came of offering a request; of answers, {@link #UNEXPECTED} alone. */
  public enum Result {
    /** It named endpoints, and one of them got the request. */
    FOLLOWED,
    /** It named endpoints, and none of them might get the request, or was there any more. */
    OVERRULED,
    /** It left the request to the config's plugins. */
    LEFT,
    /** No answer came in time. */
    LATE,
    /**
     * It was not asked, or its word no longer counted: there is no connection, or it has been late
     * again and again.
     */
    UNAVAILABLE,
    /** It was not asked: too many requests wait for answers. */
    OVERFLOW,
    /** The request was sent to nobody: its client went away first, or it was refused. */
    WITHDRAWN,
    /** An answer to a request that nobody waits for: late, twice, or of an unknown one. */
    UNEXPECTED,
    /** It answered with an unknown endpoint, with scores that don't fit, or not finite. */
    INVALID
  }

  private final Map<Result, LongAdder> counts = new EnumMap<>(Result.class);
  private final LongAdder answers = new LongAdder();
  private final LongAdder answerNanos = new LongAdder();

  /** Nothing was asked yet. */
  public ExternalCounts() {
    for (Result result : Result.values()) {
      counts.put(result, new LongAdder());
    }
  }

  void count(Result result) {
    LongAdder count = counts.get(result);
    if (count != null) {
      count.increment();
    }
  }

  void answered(long nanos) {
    answers.increment();
    answerNanos.add(nanos);
  }

  /** How often this was so. */
  public long of(Result result) {
    LongAdder count = counts.get(result);
    return count == null ? 0 : count.sum();
  }

  /** Answers that came in time. */
  public long answers() {
    return answers.sum();
  }

  /** How long those took in all, in seconds. */
  public double answerSeconds() {
    return answerNanos.sum() / 1e9;
  }
}
