package io.fairlead.epp.external;

import io.fairlead.core.external.Advice;
import io.fairlead.epp.external.ExternalCounts.Result;
import org.jspecify.annotations.Nullable;

/**
 * What an external scheduler said of a request when it was last asked, or why it said nothing. A
 * request that waits is asked about again and again, and of its words the last one counts: whoever
 * has it calls {@link #sent} or {@link #withdrawn}, once.
 */
public final class Word {

  private final ExternalCounts counts;
  private final @Nullable Advice advice;

  /** What came of asking, where no advice did. */
  private final Result otherwise;

  private Word(ExternalCounts counts, @Nullable Advice advice, Result otherwise) {
    this.counts = counts;
    this.advice = advice;
    this.otherwise = otherwise;
  }

  static Word of(ExternalCounts counts, Advice advice) {
    return new Word(counts, advice, Result.OVERRULED);
  }

  /** Why the config's plugins decide. */
  static Word none(ExternalCounts counts, Result why) {
    return new Word(counts, null, why);
  }

  /** Where it wants the request to go; null leaves that to the config's plugins. */
  public @Nullable Advice advice() {
    return advice;
  }

  /** The request was sent for the first time, and the scheduler is asked about it no more. */
  public void sent(String endpoint) {
    boolean followed = advice != null && !Double.isNaN(advice.score(Advice.identity(endpoint)));
    counts.count(followed ? Result.FOLLOWED : otherwise);
  }

  /** The request is over, and was sent to nobody. */
  public void withdrawn() {
    counts.count(Result.WITHDRAWN);
  }
}
