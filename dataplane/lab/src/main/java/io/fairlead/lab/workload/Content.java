package io.fairlead.lab.workload;

import io.fairlead.lab.workload.Mix.Part;
import java.util.Arrays;

/**
 * Tokens known by where they are from: a sequence of segments, each a name and a length. A block's
 * identity is mixed from the block before it and from the pieces of segments in it, so two contents
 * share identities exactly as far as their segments agree. Appending costs no more than what is
 * appended.
 */
final class Content {

  private static final int BLOCK = RequestShape.BLOCK_TOKENS;
  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  private long[] blocks;
  private int count;
  private int tokens;
  private long identity;

  private Content(long[] blocks, int count, int tokens, long identity) {
    this.blocks = blocks;
    this.count = count;
    this.tokens = tokens;
    this.identity = identity;
  }

  /** Nothing yet; contents of different seeds never share anything. */
  static Content empty(long seed) {
    return new Content(new long[64], 0, 0, Mix.mix(seed + Mix.of(Part.SALT, 0)));
  }

  /** Another content that begins as this one does now. */
  Content copy() {
    return new Content(blocks.clone(), count, tokens, identity);
  }

  int tokens() {
    return tokens;
  }

  /**
   * Adds all of a segment at the end.
   *
   * @param segment the name of what is added
   * @param length in tokens
   */
  Content append(long segment, int length) {
    int offset = 0;
    while (offset < length) {
      int taken = Math.min(length - offset, BLOCK - tokens % BLOCK);
      // 17 > BLOCK: no two pieces of a segment have the same number
      identity = Mix.mix(identity + Mix.mix(segment + GOLDEN * (offset * 17L + taken)));
      offset += taken;
      tokens += taken;
      if (tokens % BLOCK == 0) {
        complete();
      }
    }
    return this;
  }

  /**
   * The request whose prompt is what is here now. Its answer becomes part of the content, as a
   * conversation goes on after it.
   */
  RequestShape ask(Caller caller, long answer, int outputTokens) {
    int promptTokens = tokens;
    append(answer, outputTokens);
    return new RequestShape(
        caller.model(), caller.tenant(), Arrays.copyOf(blocks, count), promptTokens, outputTokens);
  }

  private void complete() {
    if (count == blocks.length) {
      blocks = Arrays.copyOf(blocks, count + (count >> 1) + 1);
    }
    blocks[count++] = identity;
  }
}
