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

  /** Where what was appended begins and ends, but for answers. */
  private int[] messages;

  private Content(long[] blocks, int count, int tokens, long identity, int[] messages) {
    this.blocks = blocks;
    this.count = count;
    this.tokens = tokens;
    this.identity = identity;
    this.messages = messages;
  }

  /** Nothing yet; contents of different seeds never share anything. */
  static Content empty(long seed) {
    return new Content(new long[64], 0, 0, Mix.mix(seed + Mix.of(Part.SALT, 0)), new int[0]);
  }

  /** Another content that begins as this one does now. */
  Content copy() {
    return new Content(blocks.clone(), count, tokens, identity, messages);
  }

  int tokens() {
    return tokens;
  }

  /**
   * Adds all of a segment at the end: a message.
   *
   * @param segment the name of what is added
   * @param length in tokens
   */
  Content append(long segment, int length) {
    if (length > 0) {
      messages = Arrays.copyOf(messages, messages.length + 2);
      messages[messages.length - 2] = tokens;
      messages[messages.length - 1] = tokens + length;
    }
    add(segment, length);
    return this;
  }

  private void add(long segment, int length) {
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
  }

  /**
   * The request whose prompt is what is here now. Its answer becomes part of the content, as a
   * conversation goes on after it.
   */
  RequestShape ask(Caller caller, long answer, int outputTokens) {
    int promptTokens = tokens;
    add(answer, outputTokens);
    return new RequestShape(
        caller.model(),
        caller.tenant(),
        Arrays.copyOf(blocks, count),
        promptTokens,
        outputTokens,
        messages);
  }

  private void complete() {
    if (count == blocks.length) {
      blocks = Arrays.copyOf(blocks, count + (count >> 1) + 1);
    }
    blocks[count++] = identity;
  }
}
