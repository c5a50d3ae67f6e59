package io.fairlead.plugin;

/**
 * The requests sent to one endpoint that have had no first token, in the order in which they were
 * sent. {@code u} is a request's uncached and {@code h} its cached prompt tokens, both as believed
 * when it was sent.
 */
public interface Prefills {

  int count();

  /**
   * How many of them will be seen to have their first token: their answers are streamed past the
   * picker. When the others are through is presumed.
   */
  default int watched() {
    return count();
  }

  /** Sum of {@code u}. */
  long uncachedTokens();

  /** Sum of {@code u (h + u / 2)}, to which the time spent in attention is proportional. */
  double attention();

  /** {@code u} of the first in line; 0 when there is none. */
  int headUncached();

  /** {@code u (h + u / 2)} of the first in line; 0 when there is none. */
  double headAttention();

  /** Since when it has been first, in the nanoseconds of {@link InferenceRequest#now()}. */
  long headSince();
}
