package io.fairlead.lab.trace;

import io.fairlead.lab.workload.RequestShape;
import java.util.Arrays;

/**
 * One request of a trace, as small as it is written there: its blocks are cut to the size that
 * everything else uses only when it is asked for.
 *
 * @param atNanos when it came, counted from the trace's first request
 * @param model the model asked for; empty where the trace does not say
 * @param promptTokens 1 or more
 * @param outputTokens of its answer; 0 where it got none of the one that it asked for
 * @param mostOutputTokens its own limit; 0 for none
 * @param blocks identities of the prompt's blocks, the last one perhaps not full
 * @param blockTokens tokens in each, a multiple of {@link RequestShape#BLOCK_TOKENS}
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, not compared; copying would cost per block
record TraceRequest(
    long atNanos,
    String model,
    int promptTokens,
    int outputTokens,
    int mostOutputTokens,
    long[] blocks,
    int blockTokens) {

  /** Any odd number with half its bits set: what the first block is chained to. */
  private static final long ROOT = 0x9E3779B97F4A7C15L;

  TraceRequest at(long nanos) {
    return new TraceRequest(
        nanos, model, promptTokens, outputTokens, mostOutputTokens, blocks, blockTokens);
  }

  boolean answered() {
    return outputTokens > 0;
  }

  /** The same with an answer of so many tokens, or as many as its own limit allows. */
  TraceRequest answered(int tokens) {
    return new TraceRequest(
        atNanos,
        model,
        promptTokens,
        mostOutputTokens > 0 ? Math.min(tokens, mostOutputTokens) : tokens,
        mostOutputTokens,
        blocks,
        blockTokens);
  }

  /** The request in blocks of {@link RequestShape#BLOCK_TOKENS}. */
  RequestShape shape(String named) {
    int parts = blockTokens / RequestShape.BLOCK_TOKENS;
    int whole = promptTokens / RequestShape.BLOCK_TOKENS;
    int known = (int) Math.min(whole, (long) blocks.length * parts);
    return new RequestShape(named, "", cut(known, parts), promptTokens, outputTokens);
  }

  /**
   * Each part is chained to the one before: two prompts share a part only if they share all that
   * comes before it, whatever a trace means by its identities.
   */
  private long[] cut(int known, int parts) {
    if (parts == 1) {
      return known == blocks.length ? blocks : Arrays.copyOf(blocks, known);
    }
    long[] cut = new long[known];
    long last = ROOT;
    for (int i = 0; i < known; i++) {
      last = mix(last ^ mix(blocks[i / parts] + i % parts * ROOT));
      cut[i] = last;
    }
    return cut;
  }

  /** Stafford's thirteenth mixer: every bit of the input reaches every bit of the output. */
  private static long mix(long bits) {
    long z = (bits ^ (bits >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
