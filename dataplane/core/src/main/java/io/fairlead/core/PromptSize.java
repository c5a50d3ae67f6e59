package io.fairlead.core;

import io.fairlead.core.account.TokenEstimate;

/**
 * How large a prompt is, as far as a request body tells without its model's tokenizer.
 *
 * @param textBytes bytes of its text, in UTF-8
 * @param mediaTokens what its images, sounds and files are estimated to cost, in tokens: their
 *     bytes are no text
 */
public record PromptSize(long textBytes, int mediaTokens) {

  /** No prompt. */
  public static final PromptSize NONE = new PromptSize(0, 0);

  public PromptSize {
    if (textBytes < 0 || mediaTokens < 0) {
      throw new IllegalArgumentException(
          "textBytes is "
              + textBytes
              + ", mediaTokens "
              + mediaTokens
              + "; neither may be below 0");
    }
  }

  /** A prompt of text that is this long where nothing has been learned of its model's tokens. */
  public static PromptSize ofTokens(int tokens) {
    return new PromptSize(Math.max(0L, tokens) * TokenEstimate.USUAL_BYTES, 0);
  }
}
