package io.fairlead.stub.server;

import java.util.List;

/**
 * A completion to be done. Holds sizes and hashes of prompts, never their text.
 *
 * @param api how it was asked for
 * @param adapter the LoRA adapter that the model is; empty for a base model
 * @param stream whether the answer is a stream of events
 * @param includeUsage whether the stream ends with the usage
 * @param promptTokensDetails whether usage tells of cached tokens
 * @param n choices for each prompt
 * @param outputTokens of each choice
 * @param choices what the engine is given for each choice, those of one prompt together
 */
record CompletionRequest(
    Api api,
    String model,
    String adapter,
    boolean stream,
    boolean includeUsage,
    boolean promptTokensDetails,
    int n,
    int outputTokens,
    List<Choice> choices)
    implements ParsedRequest {

  CompletionRequest {
    choices = List.copyOf(choices);
  }

  /** Tokens of all prompts, each counted once. */
  int promptTokens() {
    int tokens = 0;
    for (int i = 0; i < choices.size(); i += n) {
      tokens += choices.get(i).promptTokens();
    }
    return tokens;
  }

  /** One choice: its prompt's size, and the identities of the full blocks of prompt and answer. */
  static final class Choice {

    private final int promptTokens;
    private final long[] blocks;
    private final int[] tokens;

    /** One whose tokens nobody is told of. */
    Choice(int promptTokens, long[] blocks) {
      this(promptTokens, blocks, new int[0]);
    }

    /** Blocks and tokens are not copied, and not changed by anyone. */
    Choice(int promptTokens, long[] blocks, int[] tokens) {
      this.promptTokens = promptTokens;
      this.blocks = blocks;
      this.tokens = tokens;
    }

    /** Ids of the tokens of prompt and answer; empty where no events tell of them. */
    int[] tokens() {
      return tokens;
    }

    int promptTokens() {
      return promptTokens;
    }

    long[] blocks() {
      return blocks;
    }
  }
}
