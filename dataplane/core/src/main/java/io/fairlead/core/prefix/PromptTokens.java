package io.fairlead.core.prefix;

import java.util.Arrays;

/**
 * A prompt as its model's own tokenizer cuts it: how many tokens, and the state of {@link
 * TokenChain} after every {@code grain} of them. Neither text nor tokens can be read from it.
 *
 * @param keys the states; not changed any more
 * @param grain tokens from one to the next, at least 1
 * @param count tokens of the prompt
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, not compared
public record PromptTokens(long[] keys, int grain, int count) {

  /**
   * A prompt of these tokens.
   *
   * @param count how many of {@code tokens} there are
   */
  public static PromptTokens of(int[] tokens, int count, int grain) {
    long[] keys = new long[count / grain];
    long state = TokenChain.ROOT;
    int token = 0;
    for (int i = 0; i < keys.length; i++) {
      for (int end = token + grain; token < end; token++) {
        state = TokenChain.next(state, tokens[token]);
      }
      keys[i] = state;
    }
    return new PromptTokens(keys, grain, count);
  }

  /** The same, of all. */
  public static PromptTokens of(int[] tokens, int grain) {
    return of(tokens, tokens.length, grain);
  }

  @Override
  public String toString() {
    return count + " tokens, " + Arrays.hashCode(keys);
  }
}
