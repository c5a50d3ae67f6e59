package io.fairlead.core;

/** How many tokens a prompt has, estimated from its size. */
final class TokenEstimate {

  /** Bytes of English text per token, for the vocabularies of today's models. */
  static final int USUAL_BYTES = 4;

  private TokenEstimate() {}

  /** Tokens of a prompt for a model of which nothing has been learned. */
  static int usual(PromptSize prompt) {
    long tokens = prompt.textBytes() / USUAL_BYTES + prompt.mediaTokens();
    return (int) Math.min(tokens, Integer.MAX_VALUE);
  }
}
