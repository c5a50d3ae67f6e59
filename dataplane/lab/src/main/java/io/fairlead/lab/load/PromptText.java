package io.fairlead.lab.load;

import io.fairlead.lab.workload.RequestShape;
import java.util.SplittableRandom;

/**
 * Makes text of identities: of each block 16 short words that spell its 64 bits, so that two
 * prompts' texts agree exactly as far as their identities do. Every word has four bytes, and is one
 * token to most models.
 */
final class PromptText {

  /** One for each value of four bits. */
  private static final String[] WORDS = {
    "the ", "and ", "for ", "are ", "but ", "not ", "you ", "all ", "can ", "had ", "was ", "one ",
    "our ", "out ", "day ", "get "
  };

  private static final int BITS = 4;

  private PromptText() {}

  /**
   * The prompt of a request. What its blocks say nothing of is like no other request's.
   *
   * @param number of the request in its run
   */
  static String of(RequestShape request, long number) {
    StringBuilder text = new StringBuilder(request.promptTokens() * 4);
    int blocks = request.promptBlocks();
    for (int i = 0; i < blocks; i++) {
      spell(text, request.blocks()[i], RequestShape.BLOCK_TOKENS);
    }
    SplittableRandom own = new SplittableRandom(number);
    int left = request.promptTokens() - blocks * RequestShape.BLOCK_TOKENS;
    while (left > 0) {
      int words = Math.min(left, RequestShape.BLOCK_TOKENS);
      spell(text, own.nextLong(), words);
      left -= words;
    }
    return text.toString();
  }

  private static void spell(StringBuilder text, long bits, int words) {
    for (int i = 0; i < words; i++) {
      text.append(WORDS[(int) (bits >>> (i * BITS)) & 0xF]);
    }
  }
}
